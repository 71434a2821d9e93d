/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "stack/idset.h"
#include "stack/private.h"
#include "sysdeps/linux/procfs.h"

#define FIRST_ROOM 256

/* Stacks that are garbage have any number of them. */
#define SITES_MAX (1u << 18)

/* ---- modules, by address ---- */

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static bool same_image(const struct image *a, const struct image *b)
{
	size_t a_size, b_size;
	const uint8_t *a_id = image_build_id(a, &a_size);
	const uint8_t *b_id = image_build_id(b, &b_size);

	return image_arch(a) == image_arch(b) && a_id && b_id &&
	       a_size == b_size && !memcmp(a_id, b_id, a_size);
}

/* Every process has one of its own; they are all the same. */
static const struct code *vdso_code(struct unwinder *unwinder,
				    struct image *image)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unwinder->vdsos); i++) {
		if (!unwinder->vdsos[i]) {
			unwinder->vdsos[i] = stacks_code(unwinder->stacks,
							 image, "[vdso]", 0);
			return unwinder->vdsos[i];
		}
		if (same_image(unwinder->vdsos[i]->image, image))
			return unwinder->vdsos[i];
	}
	return stacks_code(unwinder->stacks, image, "[vdso]", 0);
}

static void find_vdso(struct unwind_space *own)
{
	struct space *space = own->space;
	struct image *image;
	uint64_t base;

	own->has_vdso = true;
	if (!procfs_auxv(space->memory.pid, space->arch->word_size,
			 AT_SYSINFO_EHDR, &base) ||
	    image_open_memory(&space->memory.memory, base, "[vdso]", &image))
		return;
	own->vdso.bias = base - image_low(image);
	own->vdso.low = base;
	own->vdso.high = own->vdso.bias + image_high(image);
	own->vdso.code = vdso_code(own->unwinder, image);
	own->vdso.image = own->vdso.code->image;
	image_put(image);
}

static void add_module(struct unwind_space *own, const struct module *module)
{
	own->ranges[own->range_count++] = (struct code_range){
		.low = module->low,
		.high = module->high,
		.bias = module->bias,
		.image = module->image,
		.path = module->path,
	};
}

static void make_ranges(struct unwind_space *own)
{
	const struct module *module;
	size_t count = 1;

	for (module = own->space->modules; module; module = module->next)
		count++;
	free(own->ranges);
	own->ranges = xcalloc(count, sizeof(*own->ranges));
	own->range_count = 0;
	for (module = own->space->modules; module; module = module->next)
		add_module(own, module);
	if (!own->has_vdso)
		find_vdso(own);
	qsort(own->ranges, own->range_count, sizeof(*own->ranges),
	      compare_ranges);
}

/* What has code keeps its image: so only those that frames lie in do. */
static const struct code *code_of(struct unwind_space *own,
				  struct code_range *range)
{
	if (!range->code)
		range->code = stacks_code(own->unwinder->stacks, range->image,
					  range->path, 0);
	return range->code;
}

static bool is_in(const struct code_range *range, taddr_t address)
{
	return range->low <= address && address < range->high &&
	       image_has_address(range->image, address - range->bias);
}

/*
 * Where segments are 64 KiB apart, as on arm64, the kernel puts the vDSO and
 * memory that a program asks for between those of the dynamic linker, maybe
 * a smaller library.
 */
static struct code_range *find_range(struct unwind_space *own, taddr_t address)
{
	size_t low = 0, high = own->range_count;

	if (own->vdso.code && own->vdso.low <= address &&
	    address < own->vdso.high)
		return &own->vdso;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (own->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && !is_in(&own->ranges[low - 1], address))
		low--;
	return low ? &own->ranges[low - 1] : NULL;
}

/* ---- sites ---- */

static void forget_sites(struct unwind_space *own)
{
	free(own->sites);
	own->site_room = FIRST_ROOM;
	own->site_count = 0;
	own->sites = xcalloc(FIRST_ROOM, sizeof(*own->sites));
}

/* What no file has made: by a JIT compiler, or the vsyscall page. */
static void describe_memory(struct unwind_space *own, pid_t pid,
			    taddr_t address, struct code_site *site)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));

	if (!procfs_find_mapping(own->space->memory.pid, address, mapping) ||
	    !mapping->executable)
		return;
	site->address = address;
	site->code = stacks_code(own->unwinder->stacks, NULL,
				 *mapping->path == '[' ? mapping->path : "",
				 pid);
}

size_t code_read(struct space *space, taddr_t address, uint8_t *ret,
		 size_t size)
{
	size_t n = memory_read_some(&space->memory.memory, address, ret, size);

	trap_hide(space, address, ret, n);
	return n;
}

static bool looks_like_signal_return(const struct unwind_space *own,
				     taddr_t address)
{
	int32_t offsets[DWARF_REGISTERS_MAX];
	uint8_t code[TRAMPOLINE_MAX];

	return code_read(own->space, address, code, sizeof(code)) ==
		       sizeof(code) &&
	       own->space->arch->dwarf->is_signal_return(code, offsets);
}

/* With all that linkers put into one. */
#define STUB_MAX 24

/* What linkers write without tables has pushed nothing up to its jump. */
static bool looks_like_stub(const struct unwind_space *own, taddr_t address)
{
	const struct arch_ops *arch = own->space->arch;
	const taddr_t low = address - STUB_MAX;
	struct plt_stub stub;
	uint8_t code[2 * STUB_MAX];

	if (code_read(own->space, low, code, sizeof(code)) != sizeof(code))
		return false;
	for (size_t at = 0; at < sizeof(code); at++)
		if (arch->plt_stub(code, sizeof(code), at, low, 0, &stub) &&
		    address - stub.start < stub.size)
			return true;
	return false;
}

/* Where a program is started is not always in the tables: ld.so's isn't. */
#define START_SIZE 64

/*
 * Whether an address that is in no table begins something: a program, or what
 * a coroutine's first function returns to. A table that begins right there,
 * with none that ends there, is of code that wasn't called.
 */
static bool begins_there(const struct unwind_space *own, struct image *image,
			 uint64_t address)
{
	return address - image_entry(image) < START_SIZE ||
	       known_row(own->unwinder, image, address);
}

/* To look at all symbols takes a while: once an image, not for each of its addresses. */
static bool is_go(struct code_range *range)
{
	if (!range->go_asked)
		range->is_go = image_is_go(range->image);
	range->go_asked = true;
	return range->is_go;
}

static void describe(struct unwind_space *own, pid_t pid, taddr_t address,
		     bool exact, struct code_site *site)
{
	struct code_range *range = find_range(own, address - !exact);
	uint64_t inside;

	site->follows_call = -1;
	if (!range) {
		describe_memory(own, pid, address, site);
		return;
	}
	inside = address - range->bias;
	if (!image_is_code(range->image, inside - !exact))
		return;
	site->code = code_of(own, range);
	site->address = inside;
	site->row = known_row(own->unwinder, range->image, inside - !exact);
	if (site->row)
		return;
	site->is_outermost = begins_there(own, range->image, inside);
	site->is_signal_return = looks_like_signal_return(own, address);
	site->is_stub = exact && looks_like_stub(own, address);
	site->may_switch = is_go(range);
}

static struct code_site *site_slot(const struct unwind_space *own, uint64_t key)
{
	size_t mask = own->site_room - 1, i = idset_mix(key) & mask;

	while (own->sites[i].key && own->sites[i].key != key)
		i = (i + 1) & mask;
	return &own->sites[i];
}

static void grow(struct unwind_space *own)
{
	struct code_site *old = own->sites;
	size_t room = own->site_room, i;

	own->site_room *= 2;
	own->sites = xcalloc(own->site_room, sizeof(*own->sites));
	for (i = 0; i < room; i++)
		if (old[i].key)
			*site_slot(own, old[i].key) = old[i];
	free(old);
}

struct code_site *site_find(struct unwind_space *own, pid_t pid,
			    taddr_t address, bool exact)
{
	uint64_t key = (address << 1 | exact) + 1;
	struct code_site *site = site_slot(own, key);

	if (site->key)
		return site;
	if (own->site_count >= SITES_MAX)
		forget_sites(own);
	else if (own->site_count >= own->site_room / 2)
		grow(own);
	site = site_slot(own, key);
	own->site_count++;
	site->key = key;
	describe(own, pid, address, exact, site);
	return site;
}

bool site_follows_call(struct unwind_space *own, struct code_site *site,
		       taddr_t address)
{
	uint8_t code[CALL_MAX];

	if (site->follows_call < 0)
		site->follows_call =
			code_read(own->space, address - sizeof(code), code,
				  sizeof(code)) == sizeof(code) &&
			own->space->arch->dwarf->ends_in_call(code,
							      sizeof(code));
	return site->follows_call;
}

static const struct stack_range *known_stack_at(const struct unwind_space *own,
						taddr_t address)
{
	size_t i;

	for (i = 0; i < STACK_RANGES; i++)
		if (address >= own->stacks[i].low &&
		    address < own->stacks[i].high)
			return &own->stacks[i];
	return NULL;
}

static const struct stack_range *stack_at(struct unwind_space *own,
					  taddr_t address)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) = NULL;
	const struct stack_range *known = known_stack_at(own, address);
	struct stack_range *range = &own->stacks[own->next_stack];

	if (known)
		return known;
	mapping = xmalloc(sizeof(*mapping));
	if (!procfs_find_mapping(own->space->memory.pid, address, mapping))
		return NULL;
	*range = (struct stack_range){ mapping->start, mapping->end };
	own->next_stack = (own->next_stack + 1) % STACK_RANGES;
	return range;
}

bool stack_is_whole(struct unwind_space *own, taddr_t a, taddr_t b)
{
	const struct stack_range *range = stack_at(own, a);

	return range && b >= range->low && b < range->high;
}

/* ---- the space ---- */

struct unwind_space *unwind_space_get(struct unwinder *unwinder,
				      struct space *space)
{
	struct unwind_space *own = unwinder->latest;

	/* Mostly. */
	if (own && own->space == space && !own->stale)
		return own;
	HASH_FIND_PTR(unwinder->spaces, &space, own);
	unwinder->latest = own;
	if (!own) {
		own = xcalloc(1, sizeof(*own));
		own->unwinder = unwinder;
		own->space = space;
		own->stale = true;
		HASH_ADD_PTR(unwinder->spaces, space, own);
	}
	if (own->stale) {
		own->stale = false;
		free(own->edges);
		free(own->last);
		own->edges = NULL;
		own->edge_room = 0;
		own->last = NULL;
		make_ranges(own);
		forget_sites(own);
	}
	return own;
}

void unwind_space_free(struct unwind_space *own)
{
	free(own->ranges);
	free(own->sites);
	free(own->edges);
	free(own->last);
	free(own);
}
