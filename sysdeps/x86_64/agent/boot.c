/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <asm/mman.h>
#include <asm/unistd_64.h>
#include <linux/memfd.h>
#include <stdbool.h>

#include "sysdeps/x86_64/agent/agent.h"
#include "sysdeps/x86_64/agent/net.h"
#include "sysdeps/x86_64/agent/system_call.h"

#ifndef MAP_SHARED
#define MAP_SHARED  1
#define MAP_PRIVATE 2
#endif

/* Rarely run. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#else
#pragma GCC optimize("Os")
#endif

static long map_own(void *at, long size)
{
	long err = system_call(__NR_mmap, (long)at, size,
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS |
				       MAP_NORESERVE,
			       -1, 0);

	return err == (long)at ? 0 : err;
}

static long map_gate(void)
{
	long gate = (long)&agent_gate;
	long err =
		map_own(&agent_kept, AGENT_KEPT_SIZE + sizeof(agent_returns));

	if (!err)
		err = map_own(&agent_gate, AGENT_GATE_SIZE);
	if (err)
		return err;
	return system_call(__NR_madvise, gate, AGENT_GATE_SIZE, MADV_WIPEONFORK,
			   0, 0, 0);
}

/* Returns the descriptor, or a negative errno; then nothing is left open. */
static long map_shared(void)
{
	static const char name[] = "calltrap-agent";
	const long shared = (long)&agent_shared;
	const long size = agent_header.shared_size;
	long fd = system_call(__NR_memfd_create, (long)name,
			      MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	long err;

	if (fd < 0)
		return fd;
	err = system_call(__NR_ftruncate, fd, size, 0, 0, 0, 0);
	if (!err)
		err = system_call(__NR_mmap, shared, size,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_FIXED, fd, 0);
	if (err == shared)
		return fd;
	system_call(__NR_close, fd, 0, 0, 0, 0, 0);
	return err;
}

/* Whoever has sent it has gone, or another thread is meant by now. */
static bool is_called_off(uint64_t turn)
{
	return turn !=
	       __atomic_load_n(&agent_header.boot_turn, __ATOMIC_ACQUIRE);
}

/*
 * The gate comes first: what has become of the rest is told there. Without it
 * calltrap finds nothing, and gives up.
 */
static long map(uint64_t what)
{
	long fd;

	if (what == AGENT_BOOT_MAP && map_gate())
		return -1;
	agent_kept.traps = 1;
	agent_net_spread(false);
	fd = agent_header.shared_size ? map_shared() : -1;
	agent_gate.boot_result = fd;
	__atomic_store_n(&agent_gate.booted, what, __ATOMIC_RELEASE);
	return fd;
}

/* Where calltrap has gone meanwhile, nobody will open the descriptor. */
static void map_all(uint64_t what, bool at_once, uint64_t turn)
{
	const long fd = map(what);

	if (at_once || (fd >= 0 && is_called_off(turn)))
		system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* Calltrap looks whether it is there. */
static void map_page(void)
{
	system_call(__NR_mmap, agent_header.boot_page, AGENT_PAGE_SIZE,
		    PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    MAP_FIXED_NOREPLACE,
		    -1, 0);
}

/*
 * The program may have closed it, and be using its number for something else.
 * (It still may between the two calls, which nobody can prevent.)
 */
static void close_own(void)
{
	/* The kernel's struct stat: st_dev and st_ino come first. */
	uint64_t file[18];
	const long fd = agent_header.boot_fd;

	if (!system_call(__NR_fstat, fd, (long)file, 0, 0, 0, 0) &&
	    file[0] == agent_header.boot_device &&
	    file[1] == agent_header.boot_inode)
		system_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

void agent_boot_run(uint64_t turn)
{
	const uint64_t told = agent_header.boot_what;
	const uint64_t what = told & ~(uint64_t)AGENT_BOOT_AT_ONCE;

	if (is_called_off(turn))
		return;
	if (what == AGENT_BOOT_MAP || what == AGENT_BOOT_SHARE) {
		map_all(what, told != what, turn);
		return;
	}
	if (what == AGENT_BOOT_PAGE)
		map_page();
	else if (what == AGENT_BOOT_NET)
		agent_net_spread(true);
	else
		close_own();
	__atomic_store_n(&agent_gate.booted, what, __ATOMIC_RELEASE);
}

#ifdef __clang__
#pragma clang attribute pop
#endif
