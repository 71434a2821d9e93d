/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/served_files.h"

#include <string.h>

#include "base/file.h"
#include "sysdeps/linux/procfs.h"

/* Types that say no more than that, and those that end in a dot and a name. */
static const char *const types[] = {
	"fuse",   "fuseblk", "nfs",   "nfs4",     "cifs",   "smb3",     "9p",
	"ceph",   "afs",     "coda",  "virtiofs", "lustre", "orangefs", "gpfs",
	"beegfs", "gfs2",    "ocfs2", "ncpfs",    "panfs",  "autofs",
};

static bool is_served(const char *type)
{
	const size_t length = strcspn(type, ". \n");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strncmp(type, types[i], length) && !types[i][length])
			return true;
	return false;
}

static void add(struct served_files *files, unsigned major, unsigned minor)
{
	if (files->count == SERVED_DEVICES) {
		files->many = true;
		return;
	}
	files->devices[files->count].major = major;
	files->devices[files->count++].minor = minor;
}

/* The rest of a line that is longer than the buffer tells nothing. */
static bool read_line(FILE *file, char *line, size_t room)
{
	int c;

	if (!fgets(line, room, file))
		return false;
	if (!strchr(line, '\n'))
		while ((c = getc(file)) != EOF && c != '\n')
			;
	return true;
}

/* "36 35 98:0 /root /where options tags… - type source options" */
void served_files_parse(struct served_files *files, FILE *mounts)
{
	char line[3 * 4096];

	files->count = 0;
	files->many = false;
	while (read_line(mounts, line, sizeof(line))) {
		const char *type = strstr(line, " - ");
		unsigned major, minor;

		/* What is cut off can't be known. */
		if (type && !is_served(type + 3))
			continue;
		if (sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2)
			add(files, major, minor);
	}
}

void served_files_read(struct served_files *files, pid_t pid)
{
	char path[64];
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return;
	served_files_parse(files, mounts);
	fclose(mounts);
}

bool served_files_include(const struct served_files *files, unsigned major,
			  unsigned minor)
{
	unsigned i;

	for (i = 0; i < files->count; i++)
		if (files->devices[i].major == major &&
		    files->devices[i].minor == minor)
			return true;
	return files->many;
}

bool served_files_hold(const struct served_files *files, pid_t pid,
		       taddr_t address)
{
	struct procfs_mapping mapping;

	return procfs_find_mapping(pid, address, &mapping) && mapping.inode &&
	       served_files_include(files, mapping.device_major,
				    mapping.device_minor);
}
