/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/rights.h"

/*
 * Bounds of what is read of one: the largest of a browser has 100 MB, in a
 * million lines.
 */
#define MAP_MAX         (256u << 20)
#define ENTRIES_MAX     (4u << 20)
#define LINE_MAX_LENGTH 4096

/* How many entries that begin before an address are looked at. */
#define OVERLAPS_MAX 64

struct entry {
	taddr_t start;
	uint64_t size;
	uint32_t number; /* of its line: later ones replace earlier ones */
	char *name;
};

struct perf_map {
	pid_t pid;
	FILE *file;       /* or NULL */
	bool is_bad;      /* it isn't text: the rest is not read */
	bool inside_line; /* a long one, whose beginning was read */
	uint64_t length;
	struct entry *entries;
	size_t count;
	size_t room;
	UT_hash_handle hh;
};

struct perf_maps {
	struct perf_map *maps;
};

struct perf_maps *perf_maps_new(void)
{
	return xcalloc(1, sizeof(struct perf_maps));
}

static void free_map(struct perf_map *map)
{
	size_t i;

	for (i = 0; i < map->count; i++)
		free(map->entries[i].name);
	free(map->entries);
	if (map->file)
		fclose(map->file);
	free(map);
}

void perf_maps_free(struct perf_maps *maps)
{
	struct perf_map *map, *next;

	if (!maps)
		return;
	HASH_ITER(hh, maps->maps, map, next) {
		HASH_DEL(maps->maps, map);
		free_map(map);
	}
	free(maps);
}

/* ---- opening ---- */

/*
 * A file in /tmp may be anybody's, or lead anywhere: it has to be a plain one
 * of the process's own user, or of root.
 */
static FILE *open_owned(const char *path, const struct rights *rights,
			uid_t owner)
{
	int fd = rights_open(rights, path, O_NOFOLLOW);
	struct stat status;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) ||
	    (status.st_uid != owner && status.st_uid != 0)) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static FILE *open_map(pid_t pid)
{
	struct rights *rights = rights_of(pid);
	struct procfs_status status;
	FILE *file;
	char *path;

	/* Of a process that has ended the file may be left. */
	if (!rights || procfs_status(pid, &status)) {
		path = xasprintf("/tmp/perf-%d.map", (int)pid);
		file = open_owned(path, NULL, geteuid());
	} else {
		path = xasprintf("/tmp/perf-%d.map", (int)status.own_pid);
		file = open_owned(path, rights, status.uids[1]);
	}
	rights_put(rights);
	free(path);
	return file;
}

/* ---- reading ---- */

static void add_line(struct perf_map *map, char *line)
{
	struct entry entry = { .number = map->count };
	char *end;

	entry.start = strtoull(line, &end, 16);
	if (*end != ' ')
		return;
	entry.size = strtoull(end, &end, 16);
	if (*end != ' ' || !entry.size)
		return;
	end++;
	end[strcspn(end, "\r\n")] = '\0';
	entry.name = xstrdup(end);
	map->entries = xgrow(map->entries, map->count, &map->room,
			     sizeof(*map->entries));
	map->entries[map->count++] = entry;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* False: what is there is no line, or not the whole of one yet. */
static bool take_line(struct perf_map *map, char *line, size_t room)
{
	size_t n = strlen(line);
	bool whole = n && line[n - 1] == '\n';

	if (!whole && n + 1 < room) {
		map->is_bad = !n || !feof(map->file);
		return false;
	}
	if (!map->inside_line)
		add_line(map, line);
	map->inside_line = !whole;
	map->length += n;
	return true;
}

static void read_lines(struct perf_map *map)
{
	char line[LINE_MAX_LENGTH];

	while (map->length < MAP_MAX && map->count < ENTRIES_MAX &&
	       fgets(line, sizeof(line), map->file))
		if (!take_line(map, line, sizeof(line)))
			break;
}

/* Whole lines that have been added since the last time. */
static void read_more(struct perf_map *map)
{
	size_t before = map->count;

	clearerr(map->file);
	if (fseeko(map->file, map->length, SEEK_SET))
		return;
	read_lines(map);
	if (map->count > before)
		qsort(map->entries, map->count, sizeof(*map->entries),
		      compare_entries);
}

static void refresh(struct perf_map *map)
{
	struct stat status;

	if (!map->file)
		map->file = open_map(map->pid);
	if (map->file && !map->is_bad && !fstat(fileno(map->file), &status) &&
	    (uint64_t)status.st_size > map->length)
		read_more(map);
}

/* ---- finding ---- */

static size_t bound(const struct perf_map *map, taddr_t address)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of those that hold the address, the one that was written last. */
static const struct entry *find(const struct perf_map *map, taddr_t address)
{
	const struct entry *found = NULL;
	size_t i = bound(map, address), tries;

	for (tries = 0; i > 0 && tries < OVERLAPS_MAX; tries++) {
		const struct entry *entry = &map->entries[--i];

		if (address - entry->start < entry->size &&
		    (!found || entry->number > found->number))
			found = entry;
	}
	return found;
}

const char *perf_maps_find(struct perf_maps *maps, pid_t pid, taddr_t address,
			   taddr_t *start_ret)
{
	const struct entry *entry;
	struct perf_map *map;

	HASH_FIND_INT(maps->maps, &pid, map);
	if (!map) {
		map = xcalloc(1, sizeof(*map));
		map->pid = pid;
		HASH_ADD_INT(maps->maps, pid, map);
	}
	refresh(map);
	entry = find(map, address);
	if (!entry)
		return NULL;
	*start_ret = entry->start;
	return entry->name;
}
