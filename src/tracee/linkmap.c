/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/linkmap.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "tracee/rdebug.h"
#include "tracee/space.h"
#include "tracee/tracer.h"

/* A list of which so many entries can't be explained is garbage. */
#define UNEXPLAINED_MAX 64

/* One reading of the lists. */
struct linkmap_reading {
	struct space *space;
	struct procfs_maps *maps; /* read when first needed */
	unsigned unexplained;     /* entries */
};

/*
 * Whether an image that lies at bias has its dynamic section where the entry
 * says. Else the file is another one by now, or the entry is garbage.
 */
static bool explains(const struct image *image, const struct link_entry *entry)
{
	uint64_t address = image_dynamic_address(image);

	return address && entry->bias + address == entry->dynamic;
}

static int check_image(struct image *image, const struct link_entry *entry,
		       struct image **ret)
{
	if (!explains(image, entry)) {
		image_put(image);
		return -ENOEXEC;
	}
	*ret = image;
	return 0;
}

static int open_from_memory(struct space *space, const struct link_entry *entry,
			    const char *name, struct image **ret)
{
	struct image *image;
	int err = image_open_memory(&space->memory.memory, entry->bias, name,
				    &image);

	if (!err)
		err = check_image(image, entry, ret);
	diag(DIAG_DEBUG, DIAG_MODULE,
	     "%s: its file is gone, read from memory: %s", name,
	     err ? strerror(-err) : "done");
	return err;
}

/*
 * Its file is that of the mapping which holds its dynamic section: names in
 * the link map may be relative, empty or stale.
 */
static struct module *open_module(struct space *space,
				  const struct link_entry *entry,
				  const struct procfs_mapping *mapping)
{
	struct image *image;
	char name[4096];

	if (!image_cache_open(space->tracer->images, space->memory.pid, mapping,
			      &image) &&
	    !check_image(image, entry, &image))
		return module_add(space, image, entry->bias, mapping->path);
	if (memory_read_string(&space->memory.memory, entry->name, name,
			       sizeof(name)) <= 0)
		strcpy(name, mapping->path);
	if (open_from_memory(space, entry, name, &image))
		return NULL;
	return module_add(space, image, entry->bias, name);
}

/* A module that is in the list for the first time. */
static struct module *new_module(struct linkmap_reading *reading,
				 const struct link_entry *entry)
{
	struct space *space = reading->space;
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	struct module *module = NULL;

	if (!reading->maps)
		reading->maps = procfs_maps_read(space->memory.pid);
	if (procfs_maps_find(reading->maps, entry->dynamic, mapping)) {
		/* It has no file, and calls nothing through a PLT. */
		if (!strcmp(mapping->path, "[vdso]"))
			return NULL;
		module = open_module(space, entry, mapping);
	}
	if (!module)
		reading->unexplained++;
	return module;
}

static struct module *known_module(struct space *space,
				   const struct link_entry *entry)
{
	struct module *module;

	for (module = space->modules; module; module = module->next)
		if (module->dynamic == entry->dynamic)
			break;
	/* Unloaded, and another one loaded to the same place meanwhile. */
	if (module && module->bias != entry->bias)
		return NULL;
	return module;
}

static void visit_entry(struct linkmap_reading *reading,
			const struct link_entry *entry, unsigned link_namespace)
{
	struct module *module = known_module(reading->space, entry);

	if (!module) {
		module = new_module(reading, entry);
		if (!module)
			return;
		module->link_namespace = link_namespace;
	}
	module->listed = true;
}

static int read_lists(struct space *space, const struct rendezvous *first)
{
	struct linkmap_reading reading = { .space = space };
	struct rdebug_walk walk;
	struct link_entry entry;
	int more;

	rdebug_walk_init(&walk, space, first);
	while ((more = rdebug_walk_next(&walk, &entry)) > 0) {
		if (entry.dynamic)
			visit_entry(&reading, &entry, walk.link_namespace);
		if (reading.unexplained > UNEXPLAINED_MAX) {
			more = -EINVAL;
			break;
		}
	}
	procfs_maps_free(reading.maps);
	return more;
}

static bool is_unlisted(const struct module *module)
{
	return !module->listed && !module->is_main && !module->is_linker;
}

static void tell_broken(struct space *space, int err)
{
	/* Of a running program the list may be read while it changes. */
	if (err == -EFAULT || space->linkmap.broken)
		return;
	diag(DIAG_WARNING, DIAG_SESSION,
	     "process %d: its list of libraries is damaged: some may be missed",
	     (int)space->memory.pid);
	space->linkmap.broken = true;
}

/*
 * Whatever the list says: code that still has a trap is there, and threads will
 * run into it.
 */
static void keep_trapped(struct space *space)
{
	struct module *module;

	for (module = space->modules; module; module = module->next) {
		if (!is_unlisted(module) ||
		    !trap_stands_in(space, module->low, module->high))
			continue;
		module->listed = true;
		tell_broken(space, -ESTALE);
	}
}

/* What is known of addresses is good until then, and not any more. */
static void drain_sources(struct space *space)
{
	struct module *module = space->modules;

	while (module && !is_unlisted(module))
		module = module->next;
	if (module)
		sources_drain(space->tracer);
}

/*
 * All traps go before the client hears of any: what it takes back on account
 * of one module may lie in another one that is gone as well.
 */
static void forget_unlisted(struct space *space)
{
	struct tracer_client *client = space->tracer->client;
	struct module *module, *next;

	keep_trapped(space);
	drain_sources(space);
	for (module = space->modules; module; module = module->next) {
		if (!is_unlisted(module))
			continue;
		trap_forget_range(space, module->low, module->high);
		scratch_forget_range(space, module->low, module->high);
	}
	for (module = space->modules; module; module = next) {
		next = module->next;
		if (!is_unlisted(module))
			continue;
		if (module->announced)
			client->ops->module_unmapped(client, space, module);
		module_remove(space, module);
	}
}

/* The client is told when the whole list is known, in its order. */
static void announce_new(struct space *space)
{
	struct tracer_client *client = space->tracer->client;
	struct module *module;

	for (module = space->modules; module; module = module->next) {
		if (module->announced)
			continue;
		module->announced = true;
		client->ops->module_mapped(client, space, module);
	}
}

/* Of a list that can't be read to its end, what isn't listed may be there. */
static void update(struct space *space, const struct rendezvous *rendezvous)
{
	struct tracer_client *client = space->tracer->client;
	struct module *module;
	int err;

	for (module = space->modules; module; module = module->next)
		module->listed = false;
	err = read_lists(space, rendezvous);
	if (err)
		tell_broken(space, err);
	else
		forget_unlisted(space);
	announce_new(space);
	space->linkmap.complete = true;
	client->ops->modules_consistent(client, space);
}

/* DT_DEBUG of the program, which ld.so fills in early. */
static taddr_t find_dt_debug(struct space *space, const struct module *main)
{
	uint64_t pair[2] = { 0, 0 };
	unsigned size = space->arch->word_size, n;

	for (n = 0; main->dynamic && n < 1024; n++) {
		if (rdebug_read_words(space, main->dynamic + n * 2 * size, pair,
				      2) ||
		    pair[0] == DT_NULL)
			break;
		if (pair[0] == DT_DEBUG)
			return pair[1];
	}
	return 0;
}

static struct module *linker_of(struct space *space)
{
	struct module *module;

	for (module = space->modules; module; module = module->next)
		if (module->is_linker)
			break;
	return module;
}

static void find_r_debug(struct space *space)
{
	struct linkmap *map = &space->linkmap;
	struct module *linker = linker_of(space);
	uint64_t address;

	if (!map->r_debug && space->modules)
		map->r_debug = find_dt_debug(space, space->modules);
	if (!map->r_debug && linker &&
	    image_find_object(linker->image, "_r_debug", &address))
		map->r_debug = linker->bias + address;
}

/* Before ld.so has run, r_brk isn't filled in: it is a function by then. */
static taddr_t find_breakpoint(struct space *space)
{
	static const char *const names[] = { "_dl_debug_state", "r_debug_state",
					     "_r_debug_state",
					     "rtld_db_dlactivity" };
	struct module *linker = linker_of(space);
	struct rendezvous rendezvous;
	size_t i;

	if (space->linkmap.r_debug &&
	    !rdebug_read(space, space->linkmap.r_debug, &rendezvous) &&
	    rendezvous.breakpoint)
		return rendezvous.breakpoint;
	for (i = 0; linker && i < ARRAY_SIZE(names); i++) {
		const struct symbol *symbol =
			image_find_symbol(linker->image, names[i]);

		if (symbol)
			return linker->bias + symbol->address;
	}
	return 0;
}

static void plant_breakpoint(struct space *space)
{
	struct linkmap *map = &space->linkmap;

	if (map->breakpoint)
		return;
	map->breakpoint = find_breakpoint(space);
	if (map->breakpoint &&
	    trap_plant(space, map->breakpoint, &map->changed))
		map->breakpoint = 0;
}

static void read_list(struct space *space, bool only_consistent)
{
	struct linkmap *map = &space->linkmap;
	struct rendezvous rendezvous;

	find_r_debug(space);
	if (map->r_debug && !rdebug_read(space, map->r_debug, &rendezvous) &&
	    (rendezvous.consistent || !only_consistent) && rendezvous.map)
		update(space, &rendezvous);
}

/* The dynamic linker is about to change its lists, or has done so. */
static void read_changes(struct space *space)
{
	read_list(space, true);
}

static void on_changed(struct trap_owner *owner, struct task *task)
{
	(void)owner;
	if (!task->tracee->borrows)
		space_use_task(task->tracee->space, task->tid);
	/* Other threads wait at each trap that is written. */
	trap_defer(task->tracee->space);
	read_changes(task->tracee->space);
	trap_plant_deferred(task->tracee->space);
}

/*
 * The program's first instruction: ld.so has loaded and relocated everything
 * that came with the program. The fallback where r_brk wasn't found.
 */
static void on_entered(struct trap_owner *owner, struct task *task)
{
	struct space *space = task->tracee->space;
	struct tracer_client *client = space->tracer->client;

	if (!task->tracee->borrows)
		space_use_task(space, task->tid);
	trap_unplant(space, space->linkmap.entry, owner);
	space->linkmap.entry = 0;
	find_r_debug(space);
	plant_breakpoint(space);
	read_changes(space);
	client->ops->space_relocated(client, space);
}

static const struct trap_owner_ops changed_ops = { .hit = on_changed };
static const struct trap_owner_ops entered_ops = { .hit = on_entered };

static int add_main(struct space *space)
{
	pid_t pid = space->memory.pid;
	struct image *image;
	struct module *module;
	char *path CLEANUP(xfree_cleanup) = procfs_exe(pid);
	uint64_t headers = 0;
	int err;

	err = image_cache_open_exe(space->tracer->images, pid, &image);
	if (err)
		return err;
	space->arch = image_arch(image);
	if (!space->arch) {
		image_put(image);
		return -ENOEXEC;
	}
	if (!procfs_auxv(pid, space->arch->word_size, AT_PHDR, &headers)) {
		image_put(image);
		return procfs_is_alive(pid) ? -ENODATA : -ERR_GONE;
	}
	(void)procfs_auxv(pid, space->arch->word_size, AT_RANDOM,
			  &space->random);
	module = module_add(space, image,
			    headers - image_headers_address(image),
			    path ? path : "");
	module->is_main = true;
	return 0;
}

/* ld.so is mapped before the program runs, but in no list yet. */
static void add_linker(struct space *space)
{
	pid_t pid = space->memory.pid;
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	struct image *image;
	uint64_t base = 0;

	if (!procfs_auxv(pid, space->arch->word_size, AT_BASE, &base) || !base)
		return;
	if (!procfs_find_mapping(pid, base, mapping))
		return;
	if (image_cache_open(space->tracer->images, pid, mapping, &image) &&
	    image_open_memory(&space->memory.memory, base, mapping->path,
			      &image))
		return;
	module_add(space, image, base - image_low(image), mapping->path)
		->is_linker = true;
}

static void plant_entry(struct space *space)
{
	struct linkmap *map = &space->linkmap;
	uint64_t entry;

	if (!procfs_auxv(space->memory.pid, space->arch->word_size, AT_ENTRY,
			 &entry))
		return;
	if (!trap_plant(space, entry, &map->entered))
		map->entry = entry;
}

/* No dynamic linker: what there is is here already. */
static void start_static(struct space *space)
{
	struct tracer_client *client = space->tracer->client;

	space->linkmap.complete = true;
	client->ops->modules_consistent(client, space);
}

/*
 * The breakpoint comes before the first reading: a change in between is
 * reported by it. What was read of another program than the one that was bound
 * must not be written: a vfork child that has left its parent's memory would
 * have it destroyed. A child that was forked while another thread was in dlopen
 * inherits a list that never becomes consistent: it is taken as it is.
 */
static int start_attached(struct space *space)
{
	struct tracer_client *client = space->tracer->client;

	find_r_debug(space);
	plant_breakpoint(space);
	if (space_is_left(space))
		return -EAGAIN;
	if (space->linkmap.breakpoint &&
	    trap_plant_now(space, space->linkmap.breakpoint))
		diag_debug(DIAG_MODULE, "r_brk can't be trapped");
	read_list(space, false);
	client->ops->space_relocated(client, space);
	if (space_is_left(space))
		return -EAGAIN;
	return charge_has_room(space, charge_count_deferred(space), NULL) ?
		       0 :
		       -EDQUOT;
}

int linkmap_start(struct space *space, bool at_exec)
{
	struct linkmap *map = &space->linkmap;
	int err = add_main(space);

	if (err)
		return err;
	map->changed.ops = &changed_ops;
	map->entered.ops = &entered_ops;
	trap_defer(space);
	add_linker(space);
	announce_new(space);
	if (!linker_of(space))
		start_static(space);
	if (at_exec) {
		plant_breakpoint(space);
		plant_entry(space);
	} else {
		err = start_attached(space);
	}
	return err;
}
