/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

/*
 * Where all processors are busy somebody waits while calls are read: the sooner they
 * are, the fewer there are, and the shorter is that. But each time costs some 10 us: not
 * where so many come that reading them takes a good part of a processor.
 */
#define AT_ONCE     512
#define PAUSE_LEAST (300 * 1000)

static uint64_t pause_for(uint64_t took, size_t told)
{
	const uint64_t pause = told ? took * AT_ONCE / told : AGENT_PAUSE_MOST;

	return pause < PAUSE_LEAST || pause > AGENT_PAUSE_MOST ?
		       AGENT_PAUSE_MOST :
		       pause;
}

/* What comes in bursts is awaited for some more pauses. */
uint64_t agent_pace(struct agent_pace *pace, uint64_t now, size_t told)
{
	const uint64_t pause = pause_for(now - pace->read, told);
	const uint64_t most = 2 * pace->pause;

	pace->pause = most && pause > most ? most : pause;
	pace->read = now;
	return pace->pause;
}
