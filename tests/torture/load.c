/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <dlfcn.h>
#include <stdio.h>

void do_load(struct worker *worker)
{
	bool b = random_below(&worker->random, 2);
	const char *name = b ? "plug_b" : "plug_a";
	char path[4096];
	long (*function)(long);
	void *library;

	snprintf(path, sizeof(path), "%s/%s.so", directory, name);
	library = dlopen(path, random_below(&worker->random, 2) ? RTLD_NOW :
								  RTLD_LAZY);
	if (!library) {
		fail("dlopen: %s", dlerror());
		return;
	}
	*(void **)&function = dlsym(library, name);
	call_pointer(worker->stream, b ? PLUG_B : PLUG_A, function);
	call_pointer(worker->stream, b ? PLUG_B : PLUG_A, function);
	if (dlclose(library))
		fail("dlclose: %s", dlerror());
}
