/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/remains.h"
#include "agent/room.h"
#include "agent/slots.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "sysdeps/x86_64/agent/image.h"
#include "tracee/charge.h"
#include "tracee/tracer.h"

/* How old the last sign of life may be. */
#define PATIENCE NS_PER_SECOND

void agent_init(struct agent *agent, struct space *space, uint64_t mode)
{
	*agent = (struct agent){
		.space = space,
		.mode = mode,
		.shared.fd = -1,
		.note = -1,
	};
	if (!ticks_are_steady()) {
		agent->state = AGENT_REFUSED;
		agent->reason = "the processor's clock isn't steady";
	}
	errand_keep_room(space, agent->state == AGENT_OUTSIDE);
}

void agent_fini(struct agent *agent)
{
	shared_close(&agent->shared);
	if (agent->space->replaced == &agent->returns.replaced)
		agent->space->replaced = NULL;
	free(agent->slots);
	agent->slots = NULL;
	agent->slot_count = agent->slot_room = 0;
}

/* ---- memory of the process ---- */

int agent_write(struct agent *agent, taddr_t address, const void *bytes,
		size_t size)
{
	return procmem_write_code(&agent->space->memory, address, bytes, size);
}

bool agent_read(struct agent *agent, taddr_t address, void *ret, size_t size)
{
	return procmem_read_code(&agent->space->memory, address, ret, size) ==
	       size;
}

static int write_gate(struct agent *agent, size_t offset, uint64_t value)
{
	return agent_write(agent, agent->base + AGENT_GATE_OFFSET + offset,
			   &value, sizeof(value));
}

#define WRITE_GATE(agent, member, value) \
	write_gate(agent, offsetof(struct agent_gate, member), value)

static bool read_gate(struct agent *agent, struct agent_gate *ret)
{
	return agent_read(agent, agent->base + AGENT_GATE_OFFSET, ret,
			  sizeof(*ret));
}

bool agent_refuse(struct agent *agent, const char *reason)
{
	agent->state = AGENT_REFUSED;
	agent->reason = reason;
	errand_keep_room(agent->space, false);
	diag_debug(DIAG_TRAP, "agent: not in process %d: %s",
		   (int)agent->space->memory.pid, reason);
	return false;
}

/* ---- whether ---- */

/*
 * What is mapped stays mapped: a program that counts its address space may miss
 * it later. A file beyond RLIMIT_FSIZE kills who makes it (SIGXFSZ).
 */
static const char *why_no_memory(const struct task *task)
{
	const pid_t pid = task->tracee->pid;
	struct procfs_limits limits;

	if (!charge_has_room_for(pid, AGENT_SHARED_OFFSET, shared_least()))
		return "little memory is left in its cgroup, or ours";
	if (procfs_limits(task->tid, &limits))
		return "its limits can't be read";
	if (limits.file_size < shared_size())
		return "the size of its files is limited (ulimit -f)";
	if (limits.address_space != UINT64_MAX)
		return "its address space is limited (ulimit -v)";
	return NULL;
}

/* Modes in which they may wait for us on the spot. */
#define WITH_WAITS (AGENT_WAITS | AGENT_WATCHES | AGENT_STACKS)

/* Its threads leave no processor to others, as long as they don't sleep. */
static bool has_real_time(const struct tracee *tracee)
{
	const struct task *task;

	for (task = tracee->tasks; task; task = task->next) {
		int policy = sched_getscheduler(task->tid);

		if (policy >= 0)
			policy &= ~SCHED_RESET_ON_FORK;
		if (policy == SCHED_FIFO || policy == SCHED_RR ||
		    policy == SCHED_DEADLINE)
			return true;
	}
	return false;
}

/* All that a program maps after mlockall(MCL_FUTURE) becomes resident. */
static const char *why_not_by_status(const struct agent *agent,
				     const struct task *task)
{
	struct procfs_status status;

	if (task->tracee->space->arch != &arch_x86_64)
		return "it isn't a program of 64 bits";
	if (task->tracee->borrows)
		return "it shares its memory with its parent";
	if (procfs_status(task->tid, &status))
		return "its status can't be read";
	if (status.seccomp)
		return "seccomp";
	if (status.shadow_stack)
		return "it has shadow stacks";
	if (agent->mode & AGENT_WITH_RINGS && status.own_pid != task->tid)
		return "a namespace of process numbers";
	if (agent->mode & WITH_WAITS && has_real_time(task->tracee))
		return "its threads have real-time priorities";
	return status.locked ? "it locks its memory" : NULL;
}

static const char *why_not(const struct agent *agent, const struct task *task)
{
	const char *reason = why_not_by_status(agent, task);

	return reason ? reason : why_no_memory(task);
}

/* What boot needs below the stack pointer, and more. */
#define STACK_ROOM 4096

/*
 * Small stacks have no page below them that is guarded: that of a coroutine, or
 * the one that handlers run on. What is known to be none lies in [stack], or
 * below the thread's own data (glibc's and musl's threads).
 */
static bool is_safe(const struct procfs_mapping *mapping, taddr_t sp,
		    taddr_t thread)
{
	if (!strcmp(mapping->path, "[stack]"))
		return true;
	return sp - mapping->start >= STACK_ROOM && sp < thread &&
	       thread < mapping->end;
}

/* To look at all that takes a while: done for the 1st, 2nd, 4th hit … */
static bool is_due(struct agent *agent)
{
	agent->hits++;
	return agent->hits >= agent->least_hits &&
	       !(agent->hits & (agent->hits - 1));
}

static bool is_on_safe_stack(const struct agent *agent, const struct task *task)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	const taddr_t sp = agent->space->arch->sp(&task->regs);

	return procfs_find_mapping(task->tid, sp, mapping) &&
	       is_safe(mapping, sp, task->regs.user.fs_base);
}

static bool has_safe_stack(struct agent *agent, const struct task *task)
{
	if (is_on_safe_stack(agent, task))
		return true;
	agent->reason = "its functions are called on stacks that may be small";
	return false;
}

/* ---- what an earlier one has left behind ---- */

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

/*
 * Its stubs are kept as they are: a thread may be in any of them. That they are
 * ours byte for byte is seen when they are to be used again.
 */
static bool find_old(struct agent *agent)
{
	taddr_t after = 0;

	do
		agent->base = after = remains_find(agent->space, after);
	while (agent->base &&
	       !(is_same_code(agent) &&
		 remains_is_whole(agent->space, agent->base, shared_size())));
	if (!agent->base || !agent_read(agent, agent->base + AGENT_STUBS_OFFSET,
					agent->stubs, sizeof(agent->stubs))) {
		agent->base = 0;
		return false;
	}
	while (agent->stub_count < AGENT_STUBS &&
	       agent->stubs[agent->stub_count].used)
		agent->stub_count++;
	agent->reused = true;
	return true;
}

/* ---- getting in ---- */

uint64_t agent_addresses(void)
{
	return AGENT_SHARED_OFFSET + shared_size();
}

uint64_t agent_code_bytes(const struct agent *agent)
{
	return AGENT_GATE_OFFSET + AGENT_GATE_SIZE +
	       (uint64_t)agent->page_count * AGENT_PAGE_SIZE;
}

/* The task that goes will come back here. */
static void remember_way(struct agent *agent, const struct task *task)
{
	const struct arch_ops *arch = agent->space->arch;

	agent->tid = task->tid;
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

/*
 * A thread that another calltrap has sent may still be about to enter boot, if
 * it got no processor: its turn isn't used again before seven others were.
 */
static bool write_boot(struct agent *agent, uint64_t what,
		       struct agent_header *header)
{
	const size_t told = offsetof(struct agent_header, boot_what);

	if (!agent_read(agent, agent->base, header, sizeof(*header)))
		return false;
	header->boot_what = what;
	header->boot_turn = (header->boot_turn + 1) % AGENT_BOOTS;
	header->shared_size = shared_size();
	header->boot_returns[header->boot_turn] = agent->place;
	header->boot_fd = (uint64_t)agent->left.number;
	header->boot_device = agent->left.device;
	header->boot_inode = agent->left.inode;
	header->boot_page = agent->page_wanted;
	return !agent_write(agent, agent->base + told, (char *)header + told,
			    sizeof(*header) - told);
}

static bool set_boot(struct agent *agent, struct task *task, uint64_t what)
{
	const struct agent_header *image = (const void *)agent_image;
	struct agent_header header;

	if (!write_boot(agent, what, &header) || WRITE_GATE(agent, booted, 0))
		return false;
	agent->space->arch->set_ip(&task->regs,
				   agent->base + image->boot +
					   header.boot_turn * AGENT_BOOT_SIZE);
	task->ip_changed = true;
	return true;
}

static bool start_boot(struct agent *agent, struct task *task, uint64_t what)
{
	agent->state = AGENT_MAPPING;
	return set_boot(agent, task, what) ||
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

static bool begin(struct agent *agent, struct task *task)
{
	const char *reason;

	/* So early threads' data isn't there yet, by which rings are found. */
	if (!task->regs.user.fs_base || !is_due(agent))
		return false;
	reason = why_not(agent, task);
	if (reason)
		return agent_refuse(agent, reason);
	if (!has_safe_stack(agent, task))
		return false;
	find_tid(agent, task);
	remember_way(agent, task);
	return find_old(agent) ? start_boot(agent, task, AGENT_BOOT_SHARE) :
				 reserve(agent, task);
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

static bool has_room(void *context, uint64_t bytes)
{
	const struct agent *agent = context;

	return charge_has_room_for(agent->space->memory.pid, 0, bytes);
}

static bool open_shared(struct agent *agent, int64_t number)
{
	int fd = open_memfd(agent->tid, number);

	if (fd < 0 || shared_open(&agent->shared, fd, agent->mode))
		return false;
	agent->shared.has_room = has_room;
	agent->shared.context = agent;
	return true;
}

#define HANDLERS "its handlers don't return"

/* How many descriptors are closed: the program could make more of that name. */
#define CLOSINGS 16

/* How often it may be given up half-way. */
#define TRIES 8

/*
 * A handler that came in between has jumped out of it: the same place on the
 * stack is another call's now. What was mapped stays behind. Returns whether
 * that was the last time.
 */
static bool give_up(struct agent *agent, const char *reason)
{
	agent->base = 0;
	agent->stub_count = 0;
	agent->reused = false;
	if (++agent->tries == TRIES)
		return !agent_refuse(agent, reason);
	agent->state = AGENT_OUTSIDE;
	return false;
}

static bool reserved(struct agent *agent, struct task *task)
{
	scratch_end_guest(agent->space);
	if (!room_is_taken(task->tid, agent->base, agent_addresses()))
		return !give_up(agent, "it can't have more memory") &&
		       begin(agent, task);
	if (agent_write(agent, agent->base, agent_image, agent_image_size))
		return agent_refuse(agent, "its code can't be written");
	return start_boot(agent, task, AGENT_BOOT_MAP);
}

static bool inside(struct agent *agent)
{
	const struct agent_header *header = (const void *)agent_image;

	if (!agent->shared.memory)
		return agent_refuse(agent, agent->reason);
	agent->reason = NULL;
	agent->state = AGENT_INSIDE;
	errand_keep_room(agent->space, false);
	returns_init(&agent->returns, agent->space, agent->base, header->back);
	agent->space->replaced = &agent->returns.replaced;
	diag_debug(DIAG_TRAP, "agent: in process %d at %#" PRIx64 "%s",
		   (int)agent->space->memory.pid, agent->base,
		   agent->reused ? ", again" : "");
	return false;
}

/* The number of a descriptor in the task's table, if it is such a file. */
static bool is_left(struct agent *agent, int64_t number)
{
	const int path = open_path(agent->tid, number);
	struct stat file;
	bool is = path >= 0 && is_memfd(path) && !fstat(path, &file);

	if (is)
		agent->left = (struct agent_descriptor){ number, file.st_dev,
							 file.st_ino };
	if (path >= 0)
		close(path);
	return is;
}

/* Those of earlier ones that were killed, or of threads that have ended, before
   they could close them. */
static bool any_is_left(struct agent *agent)
{
	int *list CLEANUP(xfree_cleanup) = NULL;
	size_t count = 0, i;

	if ((!agent->reused && !agent->tries) ||
	    procfs_descriptors(agent->tid, &list, &count))
		return false;
	for (i = 0; i < count; i++)
		if (is_left(agent, list[i]))
			return true;
	return false;
}

static bool send_to_close(struct agent *agent, struct task *task)
{
	agent->state = AGENT_CLOSING;
	return set_boot(agent, task, AGENT_BOOT_CLOSE) ||
	       agent_refuse(agent, "its code can't be written");
}

static bool closed(struct agent *agent, struct task *task)
{
	if (++agent->closings < CLOSINGS && any_is_left(agent))
		return send_to_close(agent, task);
	return inside(agent);
}

/* Who was to close it has ended on the way. */
static bool close_again(struct agent *agent, struct task *task)
{
	if (agent->closings >= CLOSINGS)
		return inside(agent);
	if (procfs_is_filtered(task->tid) || !has_safe_stack(agent, task))
		return false;
	agent->closings++;
	remember_way(agent, task);
	return send_to_close(agent, task);
}

static bool mapped(struct agent *agent, struct task *task)
{
	struct agent_gate gate;

	if (!read_gate(agent, &gate))
		return agent_refuse(agent, "it can't have more memory");
	if (!gate.booted)
		return !give_up(agent, HANDLERS) && begin(agent, task);
	if (gate.boot_result < 0)
		return agent_refuse(agent, "no memory can be shared with it");
	if (!open_shared(agent, gate.boot_result))
		agent->reason = "no memory can be shared with it";
	if (!is_left(agent, gate.boot_result))
		return inside(agent); /* the program has closed it */
	return send_to_close(agent, task);
}

/*
 * The task that left is back, and not a handler of a signal that came on its
 * way: that one may call the same function.
 */
static bool is_back(const struct agent *agent, const struct task *task)
{
	const struct arch_ops *arch = agent->space->arch;

	return task->tid == agent->tid &&
	       arch->ip(&task->regs) == agent->place &&
	       arch->sp(&task->regs) == agent->sp;
}

bool agent_take(struct agent *agent, struct task *task)
{
	switch (agent->state) {
	case AGENT_OUTSIDE:
		return begin(agent, task);
	case AGENT_RESERVING:
		return is_back(agent, task) && reserved(agent, task);
	case AGENT_MAPPING:
		return is_back(agent, task) && mapped(agent, task);
	case AGENT_CLOSING:
		if (!agent->tid)
			return close_again(agent, task);
		return is_back(agent, task) && closed(agent, task);
	case AGENT_INSIDE:
	case AGENT_LEFT:
	case AGENT_REFUSED:
		break;
	}
	return false;
}

/* ---- memory for trampolines ---- */

/* The task has come back, or never will. */
static void page_is_settled(struct agent *agent, pid_t pid)
{
	if (room_is_taken(pid, agent->page_wanted, AGENT_PAGE_SIZE))
		agent->pages[agent->page_count++] = agent->page_wanted;
	agent->page_wanted = 0;
	agent->page_pending = false;
}

bool agent_fetch_page(struct agent *agent, struct task *task)
{
	if (agent->state != AGENT_INSIDE || !agent->page_wanted)
		return false;
	if (agent->page_pending) {
		if (is_back(agent, task))
			page_is_settled(agent, task->tid);
		return false;
	}
	if (agent->page_tries == TRIES || !is_on_safe_stack(agent, task))
		return false;
	agent->page_tries++;
	/* It has a filter since the agent got in, say. */
	if (why_not_by_status(agent, task) ||
	    !charge_has_room_for(task->tracee->pid, AGENT_PAGE_SIZE, 0))
		return false;
	remember_way(agent, task);
	agent->page_pending = set_boot(agent, task, AGENT_BOOT_PAGE);
	return agent->page_pending;
}

void agent_task_ended(struct agent *agent, pid_t tid)
{
	if (agent->tid != tid)
		return;
	if (agent->page_pending)
		page_is_settled(agent, agent->space->memory.pid);
	/* It may have been let go, and be in a handler above the errand. */
	if (agent->state == AGENT_RESERVING && agent->space->scratch.guest.left)
		scratch_end_guest(agent->space);
	if (agent->state == AGENT_RESERVING || agent->state == AGENT_MAPPING)
		(void)give_up(agent, "its threads end");
	else if (agent->state == AGENT_CLOSING)
		agent->tid = 0;
}

static bool is_at_clock(struct agent *agent, taddr_t ip)
{
	static const uint8_t rdtsc[2] = { 0x0f, 0x31 };
	uint8_t code[2];

	return agent->state == AGENT_INSIDE &&
	       ip - agent->base < AGENT_CODE_SIZE &&
	       agent_read(agent, ip, code, sizeof(code)) &&
	       !memcmp(code, rdtsc, sizeof(code));
}

static bool is_at_peek(struct agent *agent, taddr_t ip)
{
	static const uint8_t byte[] = { 0x0f, 0xb6, 0x01 };
	static const uint8_t word[] = { 0x48, 0x8b, 0x01 };
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x80 };
	uint8_t code[AGENT_PEEK_SIZE];
	uint32_t mark;

	if (ip - agent->base >= AGENT_CODE_SIZE ||
	    !agent_read(agent, ip, code, sizeof(code)))
		return false;
	memcpy(&mark, &code[sizeof(byte) + sizeof(nop)], sizeof(mark));
	return mark == AGENT_PEEK_MARK &&
	       !memcmp(&code[sizeof(byte)], nop, sizeof(nop)) &&
	       (!memcmp(code, byte, sizeof(byte)) ||
		!memcmp(code, word, sizeof(word)));
}

/* Raised by the processor, and sent by nobody. */
static bool is_raised(const struct task *task, bool by_address)
{
	siginfo_t info;

	if (ptrace_get_siginfo(task->tid, &info))
		return false;
	return by_address ? info.si_code > 0 && info.si_code < SI_KERNEL :
			    info.si_code == SI_KERNEL;
}

bool agent_miss(struct agent *agent, struct task *task)
{
	struct regs *regs = task_regs(task);

	if (!regs || !agent->base || !is_at_peek(agent, regs->user.rip) ||
	    !is_raised(task, true))
		return false;
	regs->user.rcx = 0;
	regs->user.rip += AGENT_PEEK_SIZE;
	task->regs_changed = true;
	return true;
}

bool agent_fault(struct agent *agent, struct task *task)
{
	struct regs *regs = task_regs(task);
	const uint64_t now = ticks_now();

	if (!regs || !is_at_clock(agent, regs->user.rip) ||
	    !is_raised(task, false))
		return false;
	regs->user.rax = (uint32_t)now;
	regs->user.rdx = now >> 32;
	regs->user.rip += 2;
	task->regs_changed = true;
	agent->reason = "its threads may not read the time stamp counter";
	return true;
}

void agent_retire(struct agent *agent)
{
	agent->retired = true;
	slots_restore(agent);
}

/* ---- catching ---- */

void agent_set_rate(struct agent *agent, unsigned rate)
{
	agent->rate = rate;
	if (agent->state == AGENT_INSIDE)
		(void)WRITE_GATE(agent, rate, rate);
}

void agent_set_detail(struct agent *agent, uint64_t capture_bytes,
		      unsigned depth)
{
	agent->capture_bytes = capture_bytes;
	agent->depth = depth;
	if (agent->state == AGENT_INSIDE)
		(void)(WRITE_GATE(agent, capture_bytes, capture_bytes) |
		       WRITE_GATE(agent, depth, depth));
}

static int open_gate(struct agent *agent, const struct ticks *ticks)
{
	int err;

	shared_beat(&agent->shared);
	agent->since = ticks_now();
	err = WRITE_GATE(agent, mode, agent->mode) |
	      WRITE_GATE(agent, patience, ticks_in(ticks, PATIENCE)) |
	      WRITE_GATE(agent, blocks, shared_blocks_offset()) |
	      WRITE_GATE(agent, block_size, shared_block_size()) |
	      WRITE_GATE(agent, ring_words, SHARED_RING_WORDS) |
	      WRITE_GATE(agent, errno_offset, (uint64_t)agent->errno_offset) |
	      WRITE_GATE(agent, tid_offset, (uint64_t)agent->tid_offset) |
	      WRITE_GATE(agent, capture_bytes, agent->capture_bytes) |
	      WRITE_GATE(agent, depth, agent->depth) |
	      WRITE_GATE(agent, mean, agent->mean) |
	      WRITE_GATE(agent, rate, agent->rate) |
	      WRITE_GATE(agent, since, agent->since);
	if (!err) {
		agent->blind = shared_closings(&agent->shared);
		agent->note =
			guardian_note_gate(agent->space->tracer->guardian,
					   space_guard(agent->space),
					   agent->base + AGENT_GATE_OFFSET +
						   offsetof(struct agent_gate,
							    on));
		err = WRITE_GATE(agent, on, 1);
	}
	agent->open = !err;
	return err ? -EIO : 0;
}

/* An old one that does the same, or the next that is free. */
static int find_stub(const struct agent *agent,
		     const struct stub_config *config, struct agent_stub *ret)
{
	struct stub_config own = *config;

	for (own.index = 0; own.index < AGENT_STUBS; own.index++) {
		int err;

		if (agent->in_use[own.index])
			continue;
		own.base = agent->base;
		err = stub_make(&own, ret);
		if (err)
			return err;
		if (own.index >= agent->stub_count ||
		    stub_equals(ret, &agent->stubs[own.index]))
			return (int)own.index;
	}
	return -ENOSPC;
}

/* The way on of an earlier one may have been its trampoline's. */
static int use_again(struct agent *agent, int index,
		     const struct agent_stub *stub)
{
	struct agent_stub *own = &agent->stubs[index];
	const taddr_t at = stub_address(agent->base, index);

	own->original = stub->original;
	own->door = stub->door;
	return agent_write(agent, at + offsetof(struct agent_stub, original),
			   &own->original, sizeof(own->original)) |
	       agent_write(agent, at + offsetof(struct agent_stub, door),
			   &own->door, sizeof(own->door));
}

static int add_stub(struct agent *agent, int index,
		    const struct agent_stub *stub)
{
	int err;

	if ((unsigned)index < agent->stub_count)
		return use_again(agent, index, stub);
	err = agent_write(agent, stub_address(agent->base, index), stub,
			  sizeof(*stub));
	if (err)
		return err;
	agent->stubs[index] = *stub;
	agent->stub_count = index + 1;
	return 0;
}

int agent_make_stub(struct agent *agent, const struct stub_config *config,
		    const struct ticks *ticks)
{
	struct agent_stub stub;
	int index = agent->retired ? -ENOTSUP : find_stub(agent, config, &stub);
	int err;

	if (index < 0)
		return index;
	err = add_stub(agent, index, &stub);
	if (!err && agent->shared.stubs < agent->stub_count)
		err = shared_prepare(&agent->shared, agent->stub_count);
	if (!err && !agent->open)
		err = open_gate(agent, ticks);
	if (err)
		return err;
	agent->in_use[index] = true;
	return index;
}

void agent_release(struct agent *agent, unsigned stub)
{
	agent->in_use[stub] = false;
}

int agent_catch(struct agent *agent, const char *name,
		const struct stub_config *config, const struct ticks *ticks)
{
	const int index = agent_make_stub(agent, config, ticks);

	if (index >= 0)
		(void)agent_find_slots(agent, name, (unsigned)index);
	return index;
}

taddr_t agent_hook_of(const struct agent *agent, unsigned stub)
{
	return stub_address(agent->base, stub);
}

bool agent_read_slot(struct agent *agent, taddr_t slot, taddr_t *ret)
{
	return agent_read(agent, slot, ret, sizeof(*ret));
}

bool agent_hook_slot(struct agent *agent, taddr_t slot, unsigned stub)
{
	const struct agent_slot wanted = {
		.address = slot,
		.original = agent->stubs[stub].function,
		.hook = agent_hook_of(agent, stub),
	};

	return !agent->retired && slots_hook_one(agent, &wanted);
}

size_t agent_find_slots(struct agent *agent, const char *name, unsigned stub)
{
	const struct agent_slot wanted = {
		.original = agent->stubs[stub].function,
		.hook = stub_address(agent->base, stub),
	};

	return agent->retired ? 0 : slots_hook(agent, name, NULL, &wanted);
}

size_t agent_lead_past(struct agent *agent, const char *name, unsigned stub,
		       const struct module *but)
{
	const struct agent_stub *own = &agent->stubs[stub];
	const struct agent_slot wanted = {
		.original = own->function,
		.hook = stub_address(agent->base, stub) +
			offsetof(struct agent_stub, copy),
	};

	return agent->retired || own->original != wanted.hook ?
		       0 :
		       slots_hook(agent, name, but, &wanted);
}

bool agent_has_slots(const struct agent *agent, unsigned stub)
{
	const taddr_t hook = stub_address(agent->base, stub);
	size_t i;

	for (i = 0; i < agent->slot_count; i++)
		if (agent->slots[i].hook == hook)
			return true;
	return false;
}

void agent_forget_range(struct agent *agent, taddr_t low, taddr_t high)
{
	size_t i, kept = 0;

	for (i = 0; i < agent->slot_count; i++)
		if (agent->slots[i].address < low ||
		    agent->slots[i].address >= high)
			agent->slots[kept++] = agent->slots[i];
	agent->slot_count = kept;
}

bool agent_beat(struct agent *agent, const struct ticks *ticks)
{
	struct agent_gate gate;

	if (agent->state != AGENT_INSIDE || !agent->open)
		return true;
	shared_beat(&agent->shared);
	if (!read_gate(agent, &gate) || gate.on)
		return true;
	agent->blind = shared_closings(&agent->shared);
	(void)WRITE_GATE(agent, patience, ticks_in(ticks, PATIENCE));
	(void)WRITE_GATE(agent, on, 1);
	return false;
}

void agent_live(struct agent *agent)
{
	if (agent->state == AGENT_INSIDE && agent->open)
		shared_live(&agent->shared);
}

void agent_leave_copy(const struct agent *agent, struct space *copy)
{
	slots_restore_copy(agent, copy);
}

/*
 * Who has been sent to boot, and is still in a handler above it, finds that it
 * is another one's turn: what it has mapped or will map is nobody's.
 */
static void call_off(struct agent *agent)
{
	const taddr_t turn =
		agent->base + offsetof(struct agent_header, boot_turn);
	uint64_t next;

	if (!agent_read(agent, turn, &next, sizeof(next)))
		return;
	next = (next + 1) % AGENT_BOOTS;
	if (agent_write(agent, turn, &next, sizeof(next)))
		diag_debug(DIAG_TRAP, "agent: a descriptor may stay open");
}

bool agent_is_on_the_way(const struct agent *agent)
{
	return agent->state == AGENT_RESERVING ||
	       agent->state == AGENT_MAPPING || agent->state == AGENT_CLOSING;
}

void agent_leave(struct agent *agent)
{
	if (agent->state == AGENT_MAPPING)
		call_off(agent);
	if (agent->state != AGENT_INSIDE)
		return;
	slots_restore(agent);
	(void)WRITE_GATE(agent, on, 0);
	agent_unguard(agent);
	agent->open = false;
	agent->state = AGENT_LEFT;
}

void agent_traps_are_gone(struct agent *agent)
{
	if (agent->state == AGENT_LEFT && !space_is_left(agent->space))
		(void)WRITE_GATE(agent, traps, 0);
}

void agent_unguard(struct agent *agent)
{
	guardian_unnote(agent->space->tracer->guardian, agent->note);
	agent->note = -1;
}
