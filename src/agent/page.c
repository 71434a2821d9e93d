/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include "agent/room.h"
#include "tracee/charge.h"

void agent_page_is_settled(struct agent *agent, pid_t pid)
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
		if (agent_is_back(agent, task))
			agent_page_is_settled(agent, task->tid);
		return false;
	}
	if (agent->page_tries == AGENT_TRIES ||
	    !agent_is_on_safe_stack(agent, task))
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
