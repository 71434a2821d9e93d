/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include "agent/room.h"
#include "tracee/charge.h"

#define PAGE 4096

static bool is_known(const struct agent *agent, taddr_t address)
{
	unsigned i;

	for (i = 0; i < agent->page_count; i++)
		if (address - agent->pages[i] < AGENT_PAGE_SIZE)
			return true;
	return false;
}

static bool know_page(struct agent *agent, pid_t pid, taddr_t page)
{
	if (agent->page_count == AGENT_PAGES || !page ||
	    !room_is_taken(pid, page, AGENT_PAGE_SIZE))
		return false;
	agent->pages[agent->page_count++] = page;
	return true;
}

void agent_know_pages(struct agent *agent, taddr_t last)
{
	const pid_t pid = agent->space->memory.pid;
	unsigned i;

	agent->page_count = 0;
	know_page(agent, pid, last);
	for (i = 0; i < agent->stub_count; i++) {
		const taddr_t at = agent->stubs[i].trampoline;
		const taddr_t page = at & -(taddr_t)PAGE;

		if (at && !is_known(agent, at) && !know_page(agent, pid, page))
			know_page(agent, pid, page - PAGE);
	}
}

void agent_page_is_settled(struct agent *agent, pid_t pid)
{
	know_page(agent, pid, agent->page_wanted);
	agent->page_wanted = 0;
	agent->page_pending = false;
}

bool agent_fetch_page(struct agent *agent, struct task *task)
{
	if (agent->state != AGENT_INSIDE || !agent->page_wanted)
		return false;
	if (agent->page_pending) {
		if (agent_is_back(agent, task))
			agent_page_is_settled(agent, task->tid);
		return false;
	}
	if (agent->page_tries == AGENT_TRIES || agent->net_pending)
		return false;
	agent->page_tries++;
	/* It has a filter since the agent got in, say. */
	if (agent_why_not_by_status(agent, task) ||
	    !charge_has_room_for(task->tracee->pid, AGENT_PAGE_SIZE, 0))
		return false;
	agent_remember_way(agent, task);
	agent->page_pending = agent_set_boot(agent, task, AGENT_BOOT_PAGE);
	return agent->page_pending;
}
