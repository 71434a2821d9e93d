/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/lines.h"

/* Of maps: the path, which the kernel cuts at a page, and what precedes it. */
#define MAPS_LINE (4096 + 256)

static FILE *open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/*
 * The beginning of a file, as text. Without stdio: this is needed when there is
 * no memory left, too. It is the task's own: /proc/TID/stat adds up all threads
 * of the process, and takes a millisecond where there are thousands.
 */
static bool read_file(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)pid,
		 name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, ret, size - 1);
	close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* What the kernel appends to the path of a file that has none any more. */
static size_t strip_deleted(const char *path, size_t n)
{
	static const char mark[] = " (deleted)";
	const size_t size = sizeof(mark) - 1;

	return n > size && !memcmp(path + n - size, mark, size) ? n - size : n;
}

/* The numbers of a process in its namespaces; the innermost comes last. */
static pid_t innermost_pid(const char *line)
{
	const char *last = strrchr(line, '\t');

	return last ? atoi(last + 1) : 0;
}

/* Behind the key, if the line has that one: to have sscanf() see that it hasn't, sixty lines
   times fifteen keys, took 60 us. */
static const char *value_of(const char *line, const char *key)
{
	const size_t size = strlen(key);

	return strncmp(line, key, size) ? NULL : line + size;
}

static bool parse_bits(const char *line, const char *key, uint64_t *ret)
{
	const char *value = value_of(line, key);

	if (value)
		*ret = strtoull(value, NULL, 16);
	return value;
}

static bool parse_count(const char *line, const char *key, uint64_t *ret)
{
	const char *value = value_of(line, key);

	if (value)
		*ret = strtoull(value, NULL, 10);
	return value;
}

static bool parse_ids(const char *line, const char *key, unsigned ret[4])
{
	const char *value = value_of(line, key);

	return value && sscanf(value, "%u %u %u %u", &ret[0], &ret[1], &ret[2],
			       &ret[3]) == 4;
}

static bool parse_identity(const char *line, struct procfs_status *ret)
{
	const char *value;

	if ((value = value_of(line, "Name:")))
		return sscanf(value, " %63[^\n]", ret->name) == 1;
	if ((value = value_of(line, "State:")))
		return sscanf(value, " %c", &ret->state) == 1;
	if ((value = value_of(line, "Tgid:")))
		return sscanf(value, "%d", &ret->tgid) == 1;
	if ((value = value_of(line, "TracerPid:")))
		return sscanf(value, "%d", &ret->tracer) == 1;
	if ((value = value_of(line, "Seccomp:")))
		return sscanf(value, "%u", &ret->seccomp) == 1;
	return false;
}

/* One "Key:\tvalue" line. */
static void parse_status_line(const char *line, struct procfs_status *ret)
{
	uint64_t mask;

	if (parse_identity(line, ret) || parse_ids(line, "Uid:", ret->uids) ||
	    parse_ids(line, "Gid:", ret->gids) ||
	    parse_bits(line, "CapPrm:", &ret->caps_permitted) ||
	    parse_bits(line, "CapEff:", &ret->caps_effective) ||
	    parse_bits(line, "SigPnd:", &ret->signals_pending) ||
	    parse_bits(line, "ShdPnd:", &ret->signals_pending_shared) ||
	    parse_bits(line, "SigBlk:", &ret->signals_blocked) ||
	    parse_bits(line, "SigIgn:", &ret->signals_ignored) ||
	    parse_bits(line, "SigCgt:", &ret->signals_caught) ||
	    parse_count(line, "voluntary_ctxt_switches:", &ret->waits))
		return;
	if (parse_count(line, "VmLck:", &ret->locked))
		ret->locked *= 1024; /* kB */
	if (value_of(line, "VmSize:"))
		ret->has_memory = true;
	if (value_of(line, "NSpid:"))
		ret->own_pid = innermost_pid(line);
	/* Documentation/arch/x86/shstk.rst: words with a space behind each. */
	if (value_of(line, "x86_Thread_features:"))
		ret->shadow_stack = strstr(line, "shstk ");
	if (parse_bits(line, "untag_mask:", &mask))
		ret->pointer_tags = ~mask;
}

void procfs_status_parse(struct lines *lines, struct procfs_status *ret)
{
	const char *line;

	*ret = (struct procfs_status){ 0 };
	while ((line = lines_next(lines)))
		parse_status_line(line, ret);
}

int procfs_status(pid_t pid, struct procfs_status *ret)
{
	struct lines lines;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!lines_open(&lines, path))
		return errno == ENOENT || errno == ESRCH ? -ERR_GONE : -errno;
	procfs_status_parse(&lines, ret);
	lines_close(&lines);
	return ret->state ? 0 : -ERR_GONE;
}

/* What is no number is "unlimited". */
static void parse_limit(const char *line, struct procfs_limits *ret)
{
	uint64_t value;

	if (sscanf(line, "Max file size %" SCNu64, &value) == 1)
		ret->file_size = value;
	if (sscanf(line, "Max address space %" SCNu64, &value) == 1)
		ret->address_space = value;
}

int procfs_limits(pid_t pid, struct procfs_limits *ret)
{
	struct lines lines;
	const char *line;
	char path[64];

	*ret = (struct procfs_limits){ UINT64_MAX, UINT64_MAX };
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	if (!lines_open(&lines, path))
		return -errno;
	while ((line = lines_next(&lines)))
		parse_limit(line, ret);
	lines_close(&lines);
	return 0;
}

FILE *procfs_maps_open(pid_t pid)
{
	return open_file(pid, "maps");
}

/* A number, and what has to be behind it. */
static bool parse_number(const char **at, int base, char behind, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

static bool parse_flags(const char **at, struct procfs_mapping *ret)
{
	const char *flags = *at;

	if (strcspn(flags, " \n") != 4 || flags[4] != ' ')
		return false;
	ret->readable = flags[0] == 'r';
	ret->writable = flags[1] == 'w';
	ret->executable = flags[2] == 'x';
	ret->shared = flags[3] == 's';
	*at += 5;
	return true;
}

bool procfs_mapping_parse(const char *line, struct procfs_mapping *ret)
{
	uint64_t major, minor;
	size_t size;
	char *end;

	if (!parse_number(&line, 16, '-', &ret->start) ||
	    !parse_number(&line, 16, ' ', &ret->end) ||
	    !parse_flags(&line, ret) ||
	    !parse_number(&line, 16, ' ', &ret->offset) ||
	    !parse_number(&line, 16, ':', &major) ||
	    !parse_number(&line, 16, ' ', &minor))
		return false;
	ret->inode = strtoull(line, &end, 10);
	if (end == line)
		return false;
	ret->device_major = (unsigned)major;
	ret->device_minor = (unsigned)minor;
	line = end + strspn(end, " ");
	size = strip_deleted(line, strcspn(line, "\n"));
	if (size > sizeof(ret->path) - 1)
		size = sizeof(ret->path) - 1;
	memcpy(ret->path, line, size);
	ret->path[size] = '\0';
	return true;
}

bool procfs_maps_next(FILE *maps, struct procfs_mapping *ret)
{
	char line[MAPS_LINE];

	if (!fgets(line, sizeof(line), maps))
		return false;
	/* A name of newlines is four times as long here: the rest is cut. */
	if (!strchr(line, '\n') && fscanf(maps, "%*[^\n]") != EOF)
		fgetc(maps);
	return procfs_mapping_parse(line, ret);
}

bool procfs_find_mapping(pid_t pid, taddr_t address, struct procfs_mapping *ret)
{
	FILE *maps CLEANUP(file_close_cleanup) = procfs_maps_open(pid);

	while (maps && procfs_maps_next(maps, ret))
		if (address >= ret->start && address < ret->end)
			return true;
	return false;
}

bool procfs_has_uprobes(pid_t pid)
{
	FILE *maps CLEANUP(file_close_cleanup) = procfs_maps_open(pid);
	struct procfs_mapping mapping;

	while (maps && procfs_maps_next(maps, &mapping))
		if (!mapping.inode && !strcmp(mapping.path, "[uprobes]"))
			return true;
	return false;
}

/* Paths are long, lookups few: lines are kept as text, and parsed if found. */
struct procfs_maps {
	struct maps_line {
		taddr_t start;
		taddr_t end;
		char *text;
	} * lines;
	size_t count;
	size_t room;
};

struct procfs_maps *procfs_maps_read(pid_t pid)
{
	FILE *file CLEANUP(file_close_cleanup) = procfs_maps_open(pid);
	char *text CLEANUP(xfree_cleanup) = NULL;
	struct procfs_maps *maps;
	size_t size = 0;

	if (!file)
		return NULL;
	maps = xcalloc(1, sizeof(*maps));
	while (getline(&text, &size, file) > 0) {
		const char *at = text;
		struct maps_line line;

		if (!parse_number(&at, 16, '-', &line.start) ||
		    !parse_number(&at, 16, ' ', &line.end))
			continue;
		line.text = xstrdup(text);
		maps->lines = xgrow(maps->lines, maps->count, &maps->room,
				    sizeof(line));
		maps->lines[maps->count++] = line;
	}
	return maps;
}

void procfs_maps_free(struct procfs_maps *maps)
{
	if (!maps)
		return;
	while (maps->count)
		free(maps->lines[--maps->count].text);
	free(maps->lines);
	free(maps);
}

static int compare_lines(const void *key, const void *element)
{
	const struct maps_line *line = element;
	taddr_t address = *(const taddr_t *)key;

	return address < line->start ? -1 : address >= line->end;
}

bool procfs_maps_find(const struct procfs_maps *maps, taddr_t address,
		      struct procfs_mapping *ret)
{
	const struct maps_line *line;
	char text[MAPS_LINE];

	if (!maps || !maps->count)
		return false;
	/* The kernel lists them by address. */
	line = bsearch(&address, maps->lines, maps->count, sizeof(*line),
		       compare_lines);
	if (!line)
		return false;
	snprintf(text, sizeof(text), "%s", line->text);
	return procfs_mapping_parse(text, ret);
}

bool procfs_is_alive(pid_t tid)
{
	struct procfs_status status;

	return !procfs_status(tid, &status) && status.state != 'Z' &&
	       status.state != 'X';
}

pid_t procfs_live_task(pid_t pid)
{
	pid_t *tids CLEANUP(xfree_cleanup) = NULL;
	size_t count, i;

	if (procfs_is_alive(pid))
		return pid;
	if (procfs_tasks(pid, &tids, &count))
		return 0;
	for (i = 0; i < count; i++)
		if (procfs_is_alive(tids[i]))
			return tids[i];
	return 0;
}

/* The entries of a directory that are numbers of at least least. */
static int read_numbers(pid_t pid, const char *directory, int least, int **ret,
			size_t *count_ret)
{
	char path[64];
	size_t n = 0, room = 0;
	int *numbers = NULL;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, directory);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ERR_GONE : -errno;
	while ((entry = readdir(dir))) {
		int number = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || number < least)
			continue;
		numbers = xgrow(numbers, n, &room, sizeof(*numbers));
		numbers[n++] = number;
	}
	closedir(dir);
	*ret = numbers;
	*count_ret = n;
	return 0;
}

int procfs_tasks(pid_t pid, pid_t **ret, size_t *count_ret)
{
	return read_numbers(pid, "task", 1, ret, count_ret);
}

int procfs_descriptors(pid_t pid, int **ret, size_t *count_ret)
{
	return read_numbers(pid, "fd", 0, ret, count_ret);
}

bool procfs_auxv(pid_t pid, unsigned word_size, uint64_t type, uint64_t *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_file(pid, "auxv");
	uint64_t pair[2] = { 0, 0 };

	/* Entries are pairs of words of the process, not of ours. */
	while (file && fread(&pair[0], word_size, 1, file) == 1 &&
	       fread(&pair[1], word_size, 1, file) == 1) {
		if (pair[0] == type) {
			*ret = pair[1];
			return true;
		}
	}
	return false;
}

size_t procfs_auxv_bytes(pid_t pid, void *ret, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, ret, size);
	close(fd);
	return n > 0 ? n : 0;
}

char *procfs_exe(pid_t pid)
{
	char link[64], target[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, target, sizeof(target) - 1);
	return n < 0 ? NULL : xstrndup(target, strip_deleted(target, n));
}

void procfs_comm(pid_t tid, char ret[PROCFS_COMM_ROOM])
{
	char line[64];

	ret[0] = '\0';
	if (!read_file(tid, "comm", line, sizeof(line)))
		return;
	line[strcspn(line, "\n")] = '\0';
	line[PROCFS_COMM_ROOM - 1] = '\0';
	strcpy(ret, line);
}

/* "running", or "-1 sp ip", or "number args… sp ip". */
enum procfs_place procfs_place_parse(const char *line, long *number_ret,
				     taddr_t *ip_ret)
{
	const char *ip = strrchr(line, ' ');
	taddr_t address;
	long number;

	if (sscanf(line, "%ld", &number) != 1 || !ip ||
	    sscanf(ip, " %" SCNx64, &address) != 1)
		return PROCFS_ANYWHERE;
	if (number < 0)
		return PROCFS_OUTSIDE;
	*number_ret = number;
	*ip_ret = address;
	return PROCFS_IN_CALL;
}

enum procfs_place procfs_place(pid_t tid, long *number_ret, taddr_t *ip_ret)
{
	char line[512];

	return read_file(tid, "syscall", line, sizeof(line)) ?
		       procfs_place_parse(line, number_ret, ip_ret) :
		       PROCFS_ANYWHERE;
}

bool procfs_times_parse(const char *line, struct procfs_times *ret)
{
	const char *rest = strrchr(line, ')');

	return rest && sscanf(rest,
			      ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			      " %" SCNu64 " %" SCNu64,
			      &ret->user, &ret->system) == 2;
}

bool procfs_times(pid_t tid, struct procfs_times *ret)
{
	char line[512];

	return read_file(tid, "stat", line, sizeof(line)) &&
	       procfs_times_parse(line, ret);
}

bool procfs_blocked_in_syscall(pid_t tid, long *number_ret, taddr_t *ip_ret)
{
	return procfs_place(tid, number_ret, ip_ret) == PROCFS_IN_CALL;
}

int procfs_same_space(pid_t a, pid_t b)
{
	long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
	struct procfs_status status;

	if (order)
		return order < 0 ? -errno : 0;
	/* Who has none is the same to the kernel as each other such one. */
	return !procfs_status(b, &status) && status.has_memory;
}

int procfs_shares_with_child(pid_t tid)
{
	FILE *file CLEANUP(file_close_cleanup) = NULL;
	bool shares = false;
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)tid,
		 (int)tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!shares && fscanf(file, "%d", &child) == 1)
		shares = procfs_same_space(tid, child) > 0;
	return shares;
}

/* The kernel writes them one after the other, with a space behind each. */
void procfs_visit_children(pid_t tid, procfs_child_visitor *visit,
			   void *context)
{
	char path[64], text[1024];
	ssize_t n, i;
	pid_t child = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)tid,
		 (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
		for (i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				child = child * 10 + (text[i] - '0');
				continue;
			}
			if (child)
				visit(context, child);
			child = 0;
		}
	if (fd >= 0)
		close(fd);
}

char procfs_state(pid_t tid)
{
	char line[1024];
	char *p;

	if (!read_file(tid, "stat", line, sizeof(line)))
		return '\0';
	/* The name in parentheses may hold anything. */
	p = strrchr(line, ')');
	return p && p[1] ? p[2] : '\0';
}

/* A numeric field of stat, by its number there; NULL without. */
static char *find_field(char *line, int number)
{
	/* The name in parentheses may hold anything; it is field 2. */
	char *p = strrchr(line, ')');

	for (int field = 2; p && field < number; field++)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : NULL;
}

/*
 * Numbers of a task's own status by the words before them, in the order of the
 * file; true: all were found.
 */
static bool find_numbers(pid_t tid, int base, const char *const *words,
			 size_t count, uint64_t *ret)
{
	struct lines lines;
	const char *line;
	size_t found = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)tid,
		 (int)tid);
	if (!lines_open(&lines, path))
		return false;
	while (found < count && (line = lines_next(&lines))) {
		const size_t n = strlen(words[found]);

		if (!strncmp(line, words[found], n))
			ret[found++] = strtoull(line + n, NULL, base);
	}
	lines_close(&lines);
	return found == count;
}

pid_t procfs_tracer(pid_t tid)
{
	static const char *const word = "TracerPid:";
	uint64_t tracer;

	return find_numbers(tid, 10, &word, 1, &tracer) ? (pid_t)tracer : 0;
}

bool procfs_is_filtered(pid_t tid)
{
	static const char *const word = "Seccomp:";
	uint64_t mode;

	return find_numbers(tid, 10, &word, 1, &mode) && mode;
}

bool procfs_signal_waits(pid_t tid, uint64_t except)
{
	static const char *const words[] = { "SigPnd:", "ShdPnd:", "SigBlk:" };
	uint64_t masks[ARRAY_SIZE(words)];

	return !find_numbers(tid, 16, words, ARRAY_SIZE(words), masks) ||
	       (masks[0] | masks[1]) & ~masks[2] & ~except;
}

bool procfs_schedule(pid_t tid, struct procfs_schedule *ret)
{
	unsigned long long ran, waited, turns;
	char line[128];

	if (!read_file(tid ? tid : gettid(), "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%llu %llu %llu", &ran, &waited, &turns) != 3)
		return false;
	*ret = (struct procfs_schedule){ ran, waited, turns };
	return true;
}

/* The kernel's PF_KTHREAD. */
#define FLAG_KERNEL_THREAD 0x00200000

bool procfs_parse_kernel_thread(char *stat)
{
	const char *flags = find_field(stat, 9);

	return flags && strtoull(flags, NULL, 10) & FLAG_KERNEL_THREAD;
}

bool procfs_is_kernel_thread(pid_t pid)
{
	char line[1024];

	return read_file(pid, "stat", line, sizeof(line)) &&
	       procfs_parse_kernel_thread(line);
}

uint64_t procfs_children_ns(pid_t pid)
{
	char line[1024];
	char *user, *system;

	if (!read_file(pid, "stat", line, sizeof(line)))
		return 0;
	user = find_field(line, 16);
	system = find_field(line, 17);
	if (!user || !system)
		return 0;
	return (strtoull(user, NULL, 10) + strtoull(system, NULL, 10)) *
	       (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool procfs_faults(pid_t tid, struct procfs_faults *ret)
{
	char line[1024];
	char *minor, *major;

	if (!read_file(tid, "stat", line, sizeof(line)))
		return false;
	minor = find_field(line, 10);
	major = find_field(line, 12);
	if (!minor || !major)
		return false;
	ret->minor = strtoull(minor, NULL, 10);
	ret->major = strtoull(major, NULL, 10);
	return true;
}

bool procfs_device_bytes(pid_t tid, struct procfs_device_bytes *ret)
{
	unsigned long long bytes, written;
	char text[512];
	const char *line;

	if (!read_file(tid, "io", text, sizeof(text)))
		return false;
	line = strstr(text, "\nread_bytes: ");
	if (!line || sscanf(line, "\nread_bytes: %llu\nwrite_bytes: %llu",
			    &bytes, &written) != 2)
		return false;
	*ret = (struct procfs_device_bytes){ bytes, written };
	return true;
}

int procfs_processor(pid_t tid)
{
	char line[1024];
	char *field;

	if (!read_file(tid, "stat", line, sizeof(line)))
		return -1;
	field = find_field(line, 39);
	return field ? atoi(field) : -1;
}

static bool read_address(pid_t pid, int number, taddr_t *ret)
{
	char line[1024];
	char *field;

	if (!read_file(pid, "stat", line, sizeof(line)))
		return false;
	field = find_field(line, number);
	if (!field)
		return false;
	*ret = strtoull(field, NULL, 10);
	return *ret != 0;
}

bool procfs_start_of_code(pid_t pid, taddr_t *ret)
{
	return read_address(pid, 26, ret);
}

bool procfs_start_of_heap(pid_t pid, taddr_t *ret)
{
	return read_address(pid, 47, ret);
}
