/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/remains.h"
#include "agent/room.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/x86_64/agent/image.h"
#include "tracee/charge.h"

/* But for what boot is told, which is different each time. */
static bool is_same_code(struct agent *agent)
{
	uint8_t *code CLEANUP(xfree_cleanup) = xmalloc(agent_image_size);
	const size_t told = offsetof(struct agent_header, boot_what);

	return agent_read(agent, agent->base, code, agent_image_size) &&
	       !memcmp(code, agent_image, told) &&
	       !memcmp(code + sizeof(struct agent_header),
		       agent_image + sizeof(struct agent_header),
		       agent_image_size - sizeof(struct agent_header));
}

/* The handler of SIGTRAP got in alone, here or in the process that has forked this. */
static bool find_net(struct agent *agent)
{
	const taddr_t word = agent->space->awaited;

	agent->base =
		word - AGENT_KEPT_OFFSET - offsetof(struct agent_kept, traps);
	return word &&
	       room_is_taken(agent->space->memory.pid,
			     agent->base + AGENT_SHARED_OFFSET,
			     shared_size()) &&
	       is_same_code(agent);
}

static void find_remains(struct agent *agent)
{
	taddr_t after = 0;

	do
		agent->base = after = remains_find(agent->space, after);
	while (agent->base &&
	       !(is_same_code(agent) &&
		 remains_is_whole(agent->space, agent->base, shared_size())));
}

/*
 * Its stubs are kept as they are: a thread may be in any of them. That they are
 * ours byte for byte is seen when they are to be used again.
 */
static bool find_old(struct agent *agent)
{
	struct agent_header header;

	if (!find_net(agent))
		find_remains(agent);
	if (!agent->base ||
	    !agent_read(agent, agent->base, &header, sizeof(header)) ||
	    !agent_read(agent, agent->base + AGENT_STUBS_OFFSET, agent->stubs,
			sizeof(agent->stubs))) {
		agent->base = 0;
		return false;
	}
	while (agent->stub_count < AGENT_STUBS &&
	       agent->stubs[agent->stub_count].used)
		agent->stub_count++;
	agent_know_pages(agent, header.boot_page);
	agent->reused = true;
	return true;
}

void agent_remember_way(struct agent *agent, const struct task *task)
{
	const struct arch_ops *arch = agent->space->arch;

	agent->tid = task->tid;
	agent->foreign = 0;
	agent->reserves = false;
	agent->place = arch->ip(&task->regs);
	agent->sp = arch->sp(&task->regs);
}

/*
 * The agent's are a handful; the program may be about to need others. To try
 * in vain costs a look at all of them each time, and a thread waits meanwhile.
 */
#define MAPPINGS_LEFT 256

/* All of it, readable and executable; boot maps what is to be written. */
static bool reserve(struct agent *agent, struct task *task)
{
	struct agent_errand errand = {
		.number = SYS_mmap,
		.arguments = {
			0, agent_addresses(), PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				MAP_FIXED_NOREPLACE,
			UINT64_MAX, 0,
		},
		.place = agent->place,
		.saved = errand_save(&task->regs),
	};
	size_t mappings;
	const taddr_t room = room_find(task->tid, agent_addresses(), &mappings);
	taddr_t place;

	if (mappings + MAPPINGS_LEFT > procfs_max_mappings())
		return agent_refuse(agent, "it may have few more mappings "
					   "(vm.max_map_count)");
	errand.arguments[0] = agent->base = room;
	if (!room)
		return agent_refuse(agent, "it can't have more memory");
	if (errand_write(task, &errand, &place))
		return agent_refuse(agent, "there is no room for code");
	agent->space->arch->set_ip(&task->regs, place);
	task->ip_changed = true;
	agent->state = AGENT_RESERVING;
	return true;
}

/* Where the agent can't write yet when it is needed: the stack may have no room. */
static bool write_way(struct agent *agent, const struct task *task,
		      const struct agent_header *header)
{
	const uint64_t turn = header->boot_turn;
	const struct agent_way way = {
		.saved = errand_save(&task->regs),
		.place = agent->place,
		.exit = agent->base + header->boot + turn * AGENT_BOOT_SIZE +
			AGENT_BOOT_EXIT,
	};

	return !agent_write(agent,
			    agent->base + AGENT_BOOTS_OFFSET +
				    turn * sizeof(struct agent_boot_room) +
				    offsetof(struct agent_boot_room, way),
			    &way, sizeof(way));
}

/*
 * A thread that another calltrap has sent may still be about to enter boot, if
 * it got no processor: its turn isn't used again before seven others were.
 */
static bool write_boot(struct agent *agent, const struct task *task,
		       uint64_t what, struct agent_header *header)
{
	const size_t told = offsetof(struct agent_header, boot_what);

	if (!agent_read(agent, agent->base, header, sizeof(*header)))
		return false;
	header->boot_what = what;
	header->boot_turn = (header->boot_turn + 1) % AGENT_BOOTS;
	header->shared_size = agent->net_alone ? 0 : shared_size();
	header->boot_fd = (uint64_t)agent->left.number;
	header->boot_device = agent->left.device;
	header->boot_inode = agent->left.inode;
	/* Else it says which one was asked for last: agent_know_pages(). */
	if (what == AGENT_BOOT_PAGE)
		header->boot_page = agent->page_wanted;
	return write_way(agent, task, header) &&
	       !agent_write(agent, agent->base + told, (char *)header + told,
			    sizeof(*header) - told);
}

bool agent_set_boot(struct agent *agent, struct task *task, uint64_t what)
{
	const struct agent_header *image = (const void *)agent_image;
	struct agent_header header;

	if (!write_boot(agent, task, what, &header) ||
	    AGENT_WRITE_GATE(agent, booted, 0))
		return false;
	agent->space->arch->set_ip(&task->regs,
				   agent->base + image->boot +
					   header.boot_turn * AGENT_BOOT_SIZE);
	task->ip_changed = true;
	return true;
}

_Static_assert(AGENT_SEEN == SPACE_TRAP_SEEN, "its handler looks for it");

static bool start_boot(struct agent *agent, struct task *task, uint64_t what)
{
	agent->state = AGENT_MAPPING;
	space_await(agent->space, agent->base + AGENT_KEPT_OFFSET +
					  offsetof(struct agent_kept, traps));
	return agent_set_boot(agent, task,
			      agent->at_once ? what | AGENT_BOOT_AT_ONCE :
					       what) ||
	       agent_refuse(agent, "its code can't be written");
}

/* Where glibc's struct pthread has it. */
#define GLIBC_TID 720

/* The only place where it stands, but for glibc's. */
static int64_t place_of(uint32_t tid, const uint32_t *words, size_t count)
{
	size_t i, found = 0;

	if (words[GLIBC_TID / sizeof(tid)] == tid)
		return GLIBC_TID;
	for (i = 0; i < count; i++) {
		if (words[i] != tid)
			continue;
		if (found)
			return 0;
		found = i;
	}
	return (int64_t)(found * sizeof(tid));
}

/*
 * The C library keeps each thread's number behind its thread pointer. In a
 * namespace of its own that isn't the number that we know.
 */
static void find_tid(struct agent *agent, const struct task *task)
{
	uint32_t words[256];
	struct procfs_status status;

	if (procfs_status(task->tid, &status) || status.own_pid != task->tid ||
	    !agent_read(agent, task->regs.user.fs_base, words, sizeof(words)))
		return;
	agent->tid_offset =
		place_of((uint32_t)task->tid, words, ARRAY_SIZE(words));
}

bool agent_set_out(struct agent *agent, struct task *task)
{
	find_tid(agent, task);
	agent_remember_way(agent, task);
	return find_old(agent) ? start_boot(agent, task, AGENT_BOOT_SHARE) :
				 reserve(agent, task);
}

static bool begin(struct agent *agent, struct task *task)
{
	const char *reason;

	/* So early threads' data isn't there yet, by which rings are found. And whoever
	   shares the memory comes to its traps as well (vfork): it is left to a thread of
	   the process itself. */
	if (!task->regs.user.fs_base || task->tracee->borrows ||
	    !agent_is_due(agent, task))
		return false;
	reason = agent_why_no_entry(agent, task);
	if (reason)
		return agent_refuse(agent, reason);
	agent->at_once = agent->net_alone = false;
	return agent_set_out(agent, task);
}

/* That it is what boot has made, and no device or pipe of the program's. */
static bool is_memfd(int path)
{
	char name[64], link[64];
	struct stat file;
	ssize_t size;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	size = readlink(name, link, sizeof(link) - 1);
	if (size < 0 || fstat(path, &file) || !S_ISREG(file.st_mode))
		return false;
	link[size] = '\0';
	return !strncmp(link, REMAINS_NAME, strlen(REMAINS_NAME));
}

static int open_path(pid_t tid, int64_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/fd/%" PRId64, (int)tid, number);
	return open(name, O_PATH | O_CLOEXEC);
}

static int open_memfd(pid_t tid, int64_t number)
{
	const int path = open_path(tid, number);
	char name[64];
	int fd = -1;

	if (path < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	if (is_memfd(path))
		fd = open(name, O_RDWR | O_CLOEXEC);
	close(path);
	return fd;
}

static bool find_memfd(pid_t tid, int64_t number, struct stat *ret)
{
	const int path = open_path(tid, number);
	const bool is = path >= 0 && is_memfd(path) && !fstat(path, ret);

	if (path >= 0)
		close(path);
	return is;
}

static bool has_room(void *context, uint64_t bytes)
{
	const struct agent *agent = context;

	return charge_has_room_for(agent->space->memory.pid, 0, bytes);
}

bool agent_open_shared(struct agent *agent, int64_t number)
{
	int fd = open_memfd(agent->tid, number);

	if (fd < 0 || shared_open(&agent->shared, fd, agent->mode)) {
		agent->reason = "no memory can be shared with it";
		return false;
	}
	agent->shared.has_room = has_room;
	agent->shared.context = agent;
	return true;
}

/* How many descriptors are closed: the program could make more of that name. */
#define CLOSINGS 16

bool agent_give_up(struct agent *agent, const char *reason)
{
	agent->base = 0;
	agent->stub_count = 0;
	agent->reused = false;
	if (++agent->tries == AGENT_TRIES)
		return !agent_refuse(agent, reason);
	agent->state = AGENT_OUTSIDE;
	return false;
}

/* By mlockall(MCL_FUTURE), which shows when something has been mapped. */
static bool is_locked(const struct task *task)
{
	struct procfs_status status;

	return procfs_status(task->tid, &status) ||
	       status.locked >= agent_addresses();
}

bool agent_start_image(struct agent *agent, struct task *task)
{
	if (is_locked(task))
		return agent_refuse(agent, AGENT_LOCKED);
	if (agent_write(agent, agent->base, agent_image, agent_image_size))
		return agent_refuse(agent, "its code can't be written");
	return start_boot(agent, task, AGENT_BOOT_MAP);
}

static bool reserved(struct agent *agent, struct task *task)
{
	scratch_end_guest(agent->space);
	if (!room_is_taken(task->tid, agent->base, agent_addresses()))
		return !agent_give_up(agent, "it can't have more memory") &&
		       begin(agent, task);
	return agent_start_image(agent, task);
}

/* For who walks over stacks. */
static struct own_frames own_frames_at(taddr_t base)
{
	static const uint8_t call[] = AGENT_CALL;
	struct own_frames ret = { .size = AGENT_FRAME_RETURN };
	size_t at, count = 0;

	for (at = 0; at + sizeof(call) <= agent_image_size; at++)
		if (!memcmp(agent_image + at, call, sizeof(call)) &&
		    count < OWN_FRAMES)
			ret.returns[count++] = base + at + sizeof(call);
	return ret;
}

bool agent_is_inside(struct agent *agent)
{
	const struct agent_header *header = (const void *)agent_image;

	if (!agent->shared.memory)
		return agent_refuse(agent, agent->reason);
	agent->reason = NULL;
	agent->state = AGENT_INSIDE;
	errand_keep_room(agent->space, false);
	returns_init(&agent->returns, agent->space, agent->base, header->back);
	agent->space->replaced = &agent->returns.replaced;
	agent->space->own_frames = own_frames_at(agent->base);
	diag_debug(DIAG_TRAP, "agent: in process %d at %#" PRIx64 "%s",
		   (int)agent->space->memory.pid, agent->base,
		   agent->reused ? ", again" : "");
	return false;
}

/* The number of a descriptor in the task's table, if it is such a file. */
static bool is_left(struct agent *agent, int64_t number)
{
	struct stat file;
	const bool is = find_memfd(agent->tid, number, &file);

	if (is)
		agent->left = (struct agent_descriptor){ number, file.st_dev,
							 file.st_ino };
	return is;
}

bool agent_has_opened(const struct agent *agent, int number)
{
	struct stat file;

	return find_memfd(agent->tid, number, &file);
}

/* Those of earlier ones that were killed, or of threads that have ended, before
   they could close them. */
bool agent_left_any(struct agent *agent, int64_t except)
{
	int *list CLEANUP(xfree_cleanup) = NULL;
	size_t count = 0, i;

	if ((!agent->reused && !agent->tries) ||
	    procfs_descriptors(agent->tid, &list, &count))
		return false;
	for (i = 0; i < count; i++)
		if (list[i] != except && is_left(agent, list[i]))
			return true;
	return false;
}

static bool send_to_close(struct agent *agent, struct task *task)
{
	agent->state = AGENT_CLOSING;
	return agent_set_boot(agent, task, AGENT_BOOT_CLOSE) ||
	       agent_refuse(agent, "its code can't be written");
}

static bool closed(struct agent *agent, struct task *task)
{
	if (++agent->closings < CLOSINGS && agent_left_any(agent, -1))
		return send_to_close(agent, task);
	return agent_is_inside(agent);
}

/* Who was to close it has ended on the way. */
static bool close_again(struct agent *agent, struct task *task)
{
	if (agent->closings >= CLOSINGS)
		return agent_is_inside(agent);
	if (procfs_is_filtered(task->tid))
		return false;
	agent->closings++;
	agent_remember_way(agent, task);
	return send_to_close(agent, task);
}

static bool mapped(struct agent *agent, struct task *task)
{
	struct agent_gate gate;

	if (!agent_read_gate(agent, &gate))
		return agent_refuse(agent, "it can't have more memory");
	if (!gate.booted)
		return !agent_give_up(agent, AGENT_NO_RETURN) &&
		       begin(agent, task);
	if (gate.boot_result < 0)
		return agent_refuse(agent, "no memory can be shared with it");
	(void)agent_open_shared(agent, gate.boot_result);
	if (!is_left(agent, gate.boot_result))
		return agent_is_inside(agent); /* the program has closed it */
	return send_to_close(agent, task);
}

bool agent_is_back(const struct agent *agent, const struct task *task)
{
	const struct arch_ops *arch = agent->space->arch;

	return task->tid == agent->tid &&
	       arch->ip(&task->regs) == agent->place &&
	       arch->sp(&task->regs) == agent->sp;
}

bool agent_take(struct agent *agent, struct task *task)
{
	/* Who is on its way will be seen at a system call. */
	if (agent->at_once && agent_is_on_the_way(agent) && agent->tid &&
	    (task->tid != agent->tid ||
	     !agent_is_astray(agent, agent->space->arch->sp(&task->regs))))
		return false;
	switch (agent->state) {
	case AGENT_OUTSIDE:
		return begin(agent, task);
	case AGENT_RESERVING:
		return agent_is_back(agent, task) && reserved(agent, task);
	case AGENT_MAPPING:
		return agent_is_back(agent, task) && mapped(agent, task);
	case AGENT_CLOSING:
		if (!agent->tid)
			return close_again(agent, task);
		return agent_is_back(agent, task) && closed(agent, task);
	case AGENT_INSIDE:
	case AGENT_LEFT:
	case AGENT_REFUSED:
		break;
	}
	return false;
}

void agent_task_ended(struct agent *agent, pid_t tid)
{
	if (agent->tid != tid)
		return;
	if (agent->page_pending)
		agent_page_is_settled(agent, agent->space->memory.pid);
	agent->net_pending = false;
	/* It may have been let go, and be in a handler above the errand. */
	if (agent->state == AGENT_RESERVING && agent->space->scratch.guest.left)
		scratch_end_guest(agent->space);
	if (agent->state == AGENT_RESERVING || agent->state == AGENT_MAPPING)
		(void)agent_give_up(agent, "its threads end");
	else if (agent->state == AGENT_CLOSING)
		agent->tid = 0;
}
