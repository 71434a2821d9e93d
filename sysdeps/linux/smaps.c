/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/smaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct smaps {
	FILE *file;
	char *line; /* the next mapping's, or what is behind the last one */
	size_t size;
	bool more;
};

static void read_line(struct smaps *smaps)
{
	smaps->more = getline(&smaps->line, &smaps->size, smaps->file) > 0;
}

struct smaps *smaps_open(pid_t pid)
{
	struct smaps *smaps;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	smaps = xcalloc(1, sizeof(*smaps));
	smaps->file = file;
	read_line(smaps);
	return smaps;
}

void smaps_close(struct smaps *smaps)
{
	if (!smaps)
		return;
	fclose(smaps->file);
	free(smaps->line);
	free(smaps);
}

/* "Rss:                 12 kB" */
static void take_number(const char *line, struct smaps_row *ret)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = {
		{ "Rss:", &ret->resident },
		{ "Pss:", &ret->proportional },
		{ "Swap:", &ret->swapped },
		{ "Anonymous:", &ret->anonymous },
		{ "Referenced:", &ret->referenced },
		{ "AnonHugePages:", &ret->huge },
		{ "ShmemPmdMapped:", &ret->huge },
		{ "FilePmdMapped:", &ret->huge },
	};
	uint64_t kb;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t length = strlen(known[i].name);

		if (!strncmp(line, known[i].name, length) &&
		    sscanf(line + length, " %" SCNu64, &kb) == 1) {
			*known[i].number += kb * 1024;
			return;
		}
	}
}

/* "VmFlags: rd wr mr mw me dc ac sd" */
static void take_flags(const char *line, struct smaps_row *ret)
{
	static const char name[] = "VmFlags:";

	if (strncmp(line, name, strlen(name)) != 0)
		return;
	line += strlen(name);
	ret->dont_fork = strstr(line, " dc");
	ret->wipe_on_fork = strstr(line, " wf");
	ret->soft_dirty = strstr(line, " sd");
}

/* A line of a mapping begins with its address, all others with a name. */
static bool is_number_line(const char *line)
{
	const size_t length = strcspn(line, ": -");

	return line[length] == ':';
}

bool smaps_next(struct smaps *smaps, struct smaps_row *ret)
{
	memset(ret, 0, sizeof(*ret));
	while (smaps->more && !procfs_mapping_parse(smaps->line, &ret->mapping))
		read_line(smaps);
	if (!smaps->more)
		return false;
	for (read_line(smaps); smaps->more && is_number_line(smaps->line);
	     read_line(smaps)) {
		take_number(smaps->line, ret);
		take_flags(smaps->line, ret);
	}
	return true;
}
