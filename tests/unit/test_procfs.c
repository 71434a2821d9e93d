/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status_text.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/served_files.h"
#include "unit.h"

static FILE *open_text(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");

	ck_assert_ptr_nonnull(file);
	return file;
}

/* Many of them, of all lengths up to that of the room, are more than is read at
   a time. */
START_TEST(each_line_of_a_long_file)
{
	struct lines lines;
	char *text, *end;
	const char *line;

	text = end = calloc(sizeof(lines.text) / 13 + 1, sizeof(lines.text));
	ck_assert_ptr_nonnull(text);
	for (size_t n = 0; n < sizeof(lines.text); n += 13) {
		memset(end, 'a' + n % 26, n);
		end[n] = '\n';
		end += n + 1;
	}
	open_lines(text, &lines);
	for (size_t n = 0; n < sizeof(lines.text); n += 13) {
		line = lines_next(&lines);
		ck_assert_ptr_nonnull(line);
		ck_assert_uint_eq(strlen(line), n);
		ck_assert_uint_eq(strspn(line, (char[]){ 'a' + n % 26, 0 }), n);
	}
	ck_assert_ptr_null(lines_next(&lines));
	ck_assert_ptr_null(lines_next(&lines));
	lines_close(&lines);
	free(text);
}
END_TEST

START_TEST(lines_without_end)
{
	struct lines lines;
	char text[2 * sizeof(lines.text)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	open_lines(text, &lines);
	ck_assert_uint_eq(strlen(lines_next(&lines)), sizeof(lines.text) - 1);
	ck_assert_uint_eq(strlen(lines_next(&lines)), sizeof(lines.text) - 1);
	ck_assert_str_eq(lines_next(&lines), "x");
	ck_assert_ptr_null(lines_next(&lines));
	lines_close(&lines);
	open_lines("\n\nlast", &lines);
	ck_assert_str_eq(lines_next(&lines), "");
	ck_assert_str_eq(lines_next(&lines), "");
	ck_assert_str_eq(lines_next(&lines), "last");
	ck_assert_ptr_null(lines_next(&lines));
	lines_close(&lines);
}
END_TEST

/* As the kernel writes them: arch/x86/kernel/cpu/proc.c. */
START_TEST(shadow_stack)
{
	ck_assert(status_of("x86_Thread_features:\tshstk \n"
			    "x86_Thread_features_locked:\t\n")
			  .shadow_stack);
	ck_assert(status_of("x86_Thread_features:\tshstk wrss \n"
			    "x86_Thread_features_locked:\tshstk wrss \n")
			  .shadow_stack);
	ck_assert(!status_of("x86_Thread_features:\t\n"
			     "x86_Thread_features_locked:\tshstk \n")
			   .shadow_stack);
	ck_assert(!status_of("Name:\tshstk \n").shadow_stack);
}
END_TEST

/* arm64's, x86's that has no such bits, and x86's with LAM. */
START_TEST(pointer_tags)
{
	ck_assert_uint_eq(
		status_of("untag_mask:\t0xffffffffffffff\n").pointer_tags,
		UINT64_C(0xff) << 56);
	ck_assert_uint_eq(
		status_of("untag_mask:\t0xffffffffffffffff\n").pointer_tags, 0);
	ck_assert_uint_eq(
		status_of("untag_mask:\t0x81ffffffffffffff\n").pointer_tags,
		UINT64_C(0x3f) << 57);
	ck_assert_uint_eq(status_of("Name:\tx\n").pointer_tags, 0);
}
END_TEST

START_TEST(status_text)
{
	struct procfs_status status = status_of(
		"Name:\tworker\nUmask:\t0022\nState:\tt (tracing stop)\n"
		"Tgid:\t100\nNgid:\t0\nPid:\t101\nPPid:\t1\n"
		"TracerPid:\t77\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
		"Groups:\t \nKthread:\t0\nVmPeak:\t 3060 kB\n"
		"VmSize:\t 3060 kB\nThreads:\t2\nSigQ:\t2/96551\n"
		"SigPnd:\t0000000000000001\nShdPnd:\tffffffffffffffff\n"
		"SigBlk:\t8000000000000000\nSigIgn:\t0000000000001000\n"
		"SigCgt:\t0000000000000010\nSeccomp:\t2\n"
		"Seccomp_filters:\t1\nvoluntary_ctxt_switches:\t150\n"
		"nonvoluntary_ctxt_switches:\t545\n");

	ck_assert_str_eq(status.name, "worker");
	ck_assert_int_eq(status.state, 't');
	ck_assert_int_eq(status.tgid, 100);
	ck_assert_int_eq(status.tracer, 77);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(status.uids[i], i + 1);
	ck_assert(status.has_memory);
	ck_assert_uint_eq(status.seccomp, 2);
	ck_assert(!status.shadow_stack);
	ck_assert_uint_eq(status.signals_pending, 1);
	ck_assert_uint_eq(status.signals_blocked, 1ull << 63);
	ck_assert_uint_eq(status.signals_ignored, 0x1000);
	ck_assert_uint_eq(status.signals_caught, 0x10);
	ck_assert_uint_eq(status.waits, 150);
}
END_TEST

START_TEST(times)
{
	struct procfs_times times;

	ck_assert(procfs_times_parse("12 (a) R 1) R 1 2 3 0 -1 4194304 90 0 0 "
				     "0 1234 56 7 8 20 0 1 0 99 0\n",
				     &times));
	ck_assert_uint_eq(times.user, 1234);
	ck_assert_uint_eq(times.system, 56);
	ck_assert(!procfs_times_parse("12 (a) R 1 2 3 0 -1 4194304 90 0",
				      &times));
	ck_assert(!procfs_times_parse("", &times));
	ck_assert(procfs_times(getpid(), &times));
	ck_assert(!procfs_times(0, &times));
}
END_TEST

START_TEST(status_of_kernel_thread)
{
	struct procfs_status status =
		status_of("Name:\tkworker/u8:2-events (x)\nState:\tI (idle)\n"
			  "Tgid:\t9\nTracerPid:\t0\nUid:\t0\t0\t0\t0\n");

	ck_assert(!status.has_memory);
	ck_assert_int_eq(status.state, 'I');
	ck_assert_str_eq(status.name, "kworker/u8:2-events (x)");
}
END_TEST

/* The flags as Linux shows them of kthreadd, and of who runs, and who is ending. */
START_TEST(kernel_threads)
{
	static const struct {
		const char *stat;
		bool kernels;
	} stats[] = {
		{ "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0", true },
		{ "9 (a) S 1 (b) I 2 0 0 0 -1 69238880 0 0 0", true },
		{ "9 (sleep) S 1 9 9 0 -1 4194304 94 0 0 0 0", false },
		{ "9 (sleep) R 1 9 9 0 -1 4194308 94 0 0 0 0", false },
		{ "9 (sleep) S 1 2097152 2097152 0 -1 0 2097152 0", false },
		{ "9 (sleep) R 1 9", false },
		{ "9", false },
		{ "", false },
	};
	char line[80];

	for (size_t i = 0; i < ARRAY_SIZE(stats); i++) {
		snprintf(line, sizeof(line), "%s", stats[i].stat);
		ck_assert_msg(procfs_parse_kernel_thread(line) ==
				      stats[i].kernels,
			      "%s", stats[i].stat);
	}
	ck_assert(!procfs_is_kernel_thread(getpid()));
}
END_TEST

/* A name may look like another line, but the kernel escapes its newlines. */
START_TEST(status_names)
{
	static const struct {
		const char *text;
		const char *name;
	} names[] = {
		{ "Name:\ta b  c\nState:\tR (x)\n", "a b  c" },
		{ "Name:\t:) (((\nState:\tR (x)\n", ":) (((" },
		{ "Name:\tx\\nState:\\tZ\nState:\tR (x)\n", "x\\nState:\\tZ" },
		{ "Name:\tState: Z\nState:\tR (x)\n", "State: Z" },
		{ "Name:\tTracerPid: 9\nState:\tR (x)\n", "TracerPid: 9" },
		{ "Name:\t\\\\\nState:\tR (x)\n", "\\\\" },
		{ "Name:\t\nState:\tR (x)\n", "" },
		{ "Name:\t\xff\x01\nState:\tR (x)\n", "\xff\x01" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct procfs_status status = status_of(names[i].text);

		ck_assert_str_eq(status.name, names[i].name);
		ck_assert_int_eq(status.state, 'R');
		ck_assert_int_eq(status.tracer, 0);
	}
}
END_TEST

START_TEST(status_garbage)
{
	static const char *const texts[] = {
		"\n",
		":\n",
		"Name:",
		"State:\n",
		"Uid:\t1\t2\nUid:\n",
		"Tgid:\tmany\n",
		"VmSize\n",
	};
	char endless[5000];
	struct procfs_status status;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		status = status_of(texts[i]);
		ck_assert(!status.tgid && !status.has_memory);
	}
	memset(endless, 'n', sizeof(endless));
	memcpy(endless, "Name:\t", 6);
	endless[sizeof(endless) - 1] = '\0';
	status = status_of(endless);
	ck_assert_uint_eq(strlen(status.name), sizeof(status.name) - 1);
}
END_TEST

START_TEST(status_of_real_tasks)
{
	struct procfs_status status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_NAME, "a b)\n(c");
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	ck_assert_int_eq(procfs_status(pid, &status), 0);
	ck_assert_str_eq(status.name, "a b)\\n(c");
	ck_assert_int_eq(status.state, 'T');
	ck_assert_int_eq(status.tgid, pid);
	ck_assert_int_eq(status.tracer, 0);
	ck_assert_uint_eq(status.uids[1], geteuid());
	ck_assert(status.has_memory);
	ck_assert(!ptrace(PTRACE_SEIZE, pid, 0, 0));
	ck_assert_int_eq(procfs_status(pid, &status), 0);
	ck_assert_int_eq(status.tracer, getpid());
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(procfs_status(pid, &status), -ERR_GONE);
}
END_TEST

static void next_line(FILE *maps, struct procfs_mapping *ret)
{
	memset(ret, 0xff, sizeof(*ret));
	ck_assert(procfs_maps_next(maps, ret));
}

START_TEST(maps_text)
{
	struct procfs_mapping m;
	FILE *maps = open_text(
		"00400000-00401000 r-xp 00002000 fe:1a 12345678901"
		"                   /usr/bin/a b  c\n"
		"7fff00000000-7fff00001000 rw-s 7fffffff000 00:01 0 "
		"/dev/zero (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0"
		"                  [vsyscall]\n"
		"10000-20000 rw-p 00000000 00:00 0 \n"
		"30000-40000 ---p 00000000 00:00 0\n"
		"50000-60000 r--p 00000000 00:00 1 /x\\012y 00:00 0 /z\n");

	next_line(maps, &m);
	ck_assert(m.start == 0x400000 && m.end == 0x401000);
	ck_assert(m.readable && !m.writable && m.executable && !m.shared);
	ck_assert_uint_eq(m.offset, 0x2000);
	ck_assert_uint_eq(m.device_major, 0xfe);
	ck_assert_uint_eq(m.device_minor, 0x1a);
	ck_assert_uint_eq(m.inode, 12345678901);
	ck_assert_str_eq(m.path, "/usr/bin/a b  c");
	next_line(maps, &m);
	ck_assert(m.readable && m.writable && !m.executable && m.shared);
	ck_assert_uint_eq(m.offset, 0x7fffffff000);
	ck_assert_str_eq(m.path, "/dev/zero");
	next_line(maps, &m);
	ck_assert(m.start == 0xffffffffff600000);
	ck_assert(!m.readable && m.executable);
	ck_assert_str_eq(m.path, "[vsyscall]");
	next_line(maps, &m);
	ck_assert(m.start == 0x10000 && m.end == 0x20000);
	ck_assert_str_eq(m.path, "");
	next_line(maps, &m);
	ck_assert(!m.readable && !m.writable && !m.executable && !m.shared);
	ck_assert_str_eq(m.path, "");
	next_line(maps, &m);
	ck_assert_str_eq(m.path, "/x\\012y 00:00 0 /z");
	ck_assert(!procfs_maps_next(maps, &m));
	fclose(maps);
}
END_TEST

/* Two mappings: the first one's path has this many characters. */
static FILE *maps_with_path(size_t length)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fprintf(file, "1000-2000 r--p 00000000 00:00 1 /");
	for (size_t i = 1; i < length; i++)
		putc('p', file);
	fprintf(file, "\n3000-4000 r-xp 00000000 00:00 2 /next\n");
	fclose(file);
	file = fmemopen(NULL, size + 1, "w+");
	fwrite(text, 1, size, file);
	rewind(file);
	free(text);
	return file;
}

static void check_long_path(size_t length, size_t kept)
{
	FILE *maps = maps_with_path(length);
	struct procfs_mapping m;

	next_line(maps, &m);
	ck_assert_uint_eq(m.start, 0x1000);
	ck_assert_uint_eq(strlen(m.path), kept);
	next_line(maps, &m);
	ck_assert_uint_eq(m.start, 0x3000);
	ck_assert_str_eq(m.path, "/next");
	fclose(maps);
}

START_TEST(maps_long_paths)
{
	check_long_path(4000, 4000);
	check_long_path(4095, 4095);
	check_long_path(4096, 4095);
	check_long_path(5000, 4095);
	check_long_path(4 * 4095, 4095);
}
END_TEST

START_TEST(maps_garbage)
{
	static const char *const texts[] = {
		"\n",
		"-",
		"1000-",
		"1000-2000",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0 00:00",
		"x-y r-xp 0 00:00 0\n",
	};
	struct procfs_mapping m;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		FILE *maps = open_text(texts[i]);

		ck_assert(!procfs_maps_next(maps, &m));
		fclose(maps);
	}
}
END_TEST

/* A file with an awkward name that is mapped, and then deleted. */
START_TEST(maps_of_real_file)
{
	char folder[] = "/tmp/test_procfs.XXXXXX", path[64], shown[80];
	struct procfs_mapping m;
	void *mapped;
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a b\nc", folder);
	snprintf(shown, sizeof(shown), "%s/a b\\012c", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert(!ftruncate(fd, 8192));
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	ck_assert(!unlink(path) && !rmdir(folder));
	ck_assert(procfs_find_mapping(getpid(), (uintptr_t)mapped + 4095, &m));
	ck_assert_uint_eq(m.start, (uintptr_t)mapped);
	ck_assert_uint_eq(m.end, (uintptr_t)mapped + 4096);
	ck_assert_uint_eq(m.offset, 4096);
	ck_assert_str_eq(m.path, shown);
	ck_assert(!munmap(mapped, 4096));
	ck_assert(!procfs_find_mapping(getpid(), (uintptr_t)mapped, &m) ||
		  strcmp(m.path, shown));
	close(fd);
}
END_TEST

/* The snapshot answers as reading line by line does. */
START_TEST(maps_snapshot)
{
	struct procfs_maps *maps = procfs_maps_read(getpid());
	struct procfs_mapping one, found;
	FILE *file = procfs_maps_open(getpid());
	int local, n = 0;

	ck_assert_ptr_nonnull(maps);
	ck_assert(procfs_maps_find(maps, (taddr_t)(uintptr_t)&local, &found));
	ck_assert_str_eq(found.path, "[stack]");
	while (procfs_maps_next(file, &one)) {
		/* What was mapped or grew for the reading itself isn't ours. */
		if (one.path[0] != '/')
			continue;
		n++;
		ck_assert(procfs_maps_find(maps, one.start, &found));
		ck_assert_uint_eq(found.start, one.start);
		ck_assert_str_eq(found.path, one.path);
		ck_assert(procfs_maps_find(maps, one.end - 1, &found));
		ck_assert_uint_eq(found.end, one.end);
		ck_assert_uint_eq(found.inode, one.inode);
	}
	fclose(file);
	ck_assert_int_gt(n, 3);
	ck_assert(!procfs_maps_find(maps, 0, &found));
	ck_assert(!procfs_maps_find(maps, 0x800000000000 - 1, &found));
	procfs_maps_free(maps);
	procfs_maps_free(NULL);
	ck_assert(!procfs_maps_find(NULL, 4096, &found));
}
END_TEST

START_TEST(auxiliary_vector)
{
	uint64_t value = 0;

	ck_assert(procfs_auxv(getpid(), sizeof(long), AT_PAGESZ, &value));
	ck_assert_uint_eq(value, getauxval(AT_PAGESZ));
	ck_assert(procfs_auxv(getpid(), sizeof(long), AT_ENTRY, &value));
	ck_assert_uint_eq(value, getauxval(AT_ENTRY));
	value = 1;
	ck_assert(!procfs_auxv(getpid(), sizeof(long), 0x7777, &value));
	ck_assert_uint_eq(value, 1);
}
END_TEST

START_TEST(executable)
{
	char *ours = realpath("/proc/self/exe", NULL);
	char *path = procfs_exe(getpid());

	ck_assert_str_eq(path, ours);
	free(path);
	free(ours);
}
END_TEST

struct crowd {
	int gate[2];
	int tids[2];
};

static void *join_crowd(void *argument)
{
	struct crowd *crowd = argument;
	pid_t tid = gettid();
	char end;

	if (write(crowd->tids[1], &tid, sizeof(tid)) != sizeof(tid))
		return argument;
	return read(crowd->gate[0], &end, 1) ? argument : NULL;
}

static bool holds(const pid_t *tids, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

START_TEST(tasks_of_threads)
{
	enum { THREADS = 20 };
	pthread_t threads[THREADS];
	struct crowd crowd;
	pid_t *tids, tid;
	size_t count;

	ck_assert(!pipe(crowd.gate) && !pipe(crowd.tids));
	for (int i = 0; i < THREADS; i++)
		ck_assert(
			!pthread_create(&threads[i], NULL, join_crowd, &crowd));
	ck_assert_int_eq(procfs_tasks(getpid(), &tids, &count), 0);
	ck_assert_uint_ge(count, THREADS + 1);
	ck_assert(holds(tids, count, getpid()));
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(read(crowd.tids[0], &tid, sizeof(tid)),
				 sizeof(tid));
		ck_assert(holds(tids, count, tid));
		ck_assert(procfs_same_space(getpid(), tid) != 0);
	}
	free(tids);
	close(crowd.gate[1]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

static pid_t start(void (*body)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		body();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static enum procfs_place place_of(const char *line, long *number_ret,
				  taddr_t *ip_ret)
{
	*number_ret = -7;
	*ip_ret = 7;
	return procfs_place_parse(line, number_ret, ip_ret);
}

START_TEST(places_text)
{
	static const char *const nowhere[] = { "",     "\n",   "running\n",
					       "56",   "56\n", "x 0x1",
					       "56 x", "-1 x", "-1" };
	taddr_t ip;
	long number;

	ck_assert_int_eq(place_of("56 0x11 0x0 0x0 0x0 0x0 0x0 0x7ffe10 "
				  "0x7f8b31b70006\n",
				  &number, &ip),
			 PROCFS_IN_CALL);
	ck_assert_int_eq(number, 56);
	ck_assert_uint_eq(ip, 0x7f8b31b70006);
	ck_assert_int_eq(place_of("0 0x0 0x1 0x2\n", &number, &ip),
			 PROCFS_IN_CALL);
	ck_assert_int_eq(number, 0);
	ck_assert_int_eq(place_of("-1 0x7ffe10 0x401000\n", &number, &ip),
			 PROCFS_OUTSIDE);
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		ck_assert_int_eq(place_of(nowhere[i], &number, &ip),
				 PROCFS_ANYWHERE);
		ck_assert_int_eq(number, -7);
		ck_assert_uint_eq(ip, 7);
	}
}
END_TEST

/* A system call that lasts; where it returns to has a name. */
void pause_here(void) __attribute__((visibility("hidden")));
void after_pause(void) __attribute__((visibility("hidden")));
#ifdef __aarch64__
#define SYS_LASTING SYS_ppoll /* of nothing */
#define RELAX       "yield"
__asm__(".text\n"
	"pause_here:\n\t"
	"mov x0, #0\n\t"
	"mov x1, #0\n\t"
	"mov x2, #0\n\t"
	"mov x3, #0\n\t"
	"mov x8, #73\n\t"
	"svc #0\n"
	"after_pause:\n\t"
	"b pause_here");
#else
#define SYS_LASTING SYS_pause
#define RELAX       "pause"
__asm__(".text\n"
	"pause_here:\n\t"
	"mov $34, %eax\n\t"
	"syscall\n"
	"after_pause:\n\t"
	"jmp pause_here");
#endif

static void spin(void)
{
	for (;;)
		__asm__ volatile(RELAX);
}

static bool becomes_blocked(pid_t pid, long *number_ret, taddr_t *ip_ret)
{
	for (int i = 0; i < 5000; i++) {
		if (procfs_blocked_in_syscall(pid, number_ret, ip_ret))
			return true;
		usleep(1000);
	}
	return false;
}

START_TEST(blocked_in_syscall)
{
	pid_t pid = start(pause_here);
	taddr_t ip = 0;
	long number = -1;

	ck_assert(becomes_blocked(pid, &number, &ip));
	/* The fork's child may have been seen in an earlier one. */
	for (int i = 0; i < 5000 && ip != (uintptr_t)after_pause; i++) {
		usleep(1000);
		(void)procfs_blocked_in_syscall(pid, &number, &ip);
	}
	ck_assert_uint_eq(ip, (uintptr_t)after_pause);
	ck_assert_int_eq(number, SYS_LASTING);
	end(pid);
	ck_assert(!procfs_blocked_in_syscall(pid, &number, &ip));
}
END_TEST

static void rest_until_parent_ends(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void wait_for_vfork_child(void)
{
	if (!vfork())
		rest_until_parent_ends();
}

static void wait_for_forked_child(void)
{
	if (!fork())
		rest_until_parent_ends();
	waitpid(-1, NULL, 0);
}

static int comes_to_share(void (*parent)(void), int patience)
{
	pid_t pid = start(parent);
	int shares;

	while ((shares = procfs_shares_with_child(pid)) == 0 && patience--)
		usleep(1000);
	end(pid);
	return shares;
}

START_TEST(memory_shared_with_a_child)
{
	int shares = comes_to_share(wait_for_vfork_child, 5000);

	if (shares < 0) /* without CONFIG_PROC_CHILDREN */
		return;
	ck_assert_int_eq(shares, 1);
	ck_assert_int_eq(comes_to_share(wait_for_forked_child, 50), 0);
}
END_TEST

/* Stopped in user space is not blocked in a system call, nor is running. */
START_TEST(not_blocked_in_syscall)
{
	pid_t pid = start(spin);
	taddr_t ip;
	long number;

	usleep(20000);
	ck_assert(!procfs_blocked_in_syscall(pid, &number, &ip));
	ck_assert(!ptrace(PTRACE_SEIZE, pid, 0, 0));
	ck_assert_int_eq(procfs_state(pid), 'R');
	ck_assert(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(!procfs_blocked_in_syscall(pid, &number, &ip));
	ck_assert_int_eq(procfs_state(pid), 't');
	end(pid);
	ck_assert_int_eq(procfs_state(pid), 0);
}
END_TEST

/* The last processor that we may use; -1 when there is none. */
static void *outlive_leader(void *unused)
{
	spin();
	return unused;
}

static void end_leader(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive_leader, NULL);
	pthread_exit(NULL);
}

START_TEST(live_task)
{
	pid_t pid = start(end_leader), live;
	int patience = 1000;

	ck_assert_int_eq(procfs_live_task(getpid()), getpid());
	ck_assert(procfs_is_alive(getpid()));
	while (procfs_is_alive(pid) && patience--)
		usleep(10000);
	ck_assert(!procfs_is_alive(pid));
	live = procfs_live_task(pid);
	ck_assert_int_gt(live, 0);
	ck_assert_int_ne(live, pid);
	ck_assert(procfs_is_alive(live));
	end(pid);
	ck_assert_int_eq(procfs_live_task(pid), 0);
}
END_TEST

static int last_processor(void)
{
	cpu_set_t allowed;
	int last = -1;

	ck_assert(!sched_getaffinity(0, sizeof(allowed), &allowed));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			last = i;
	return last;
}

START_TEST(processor)
{
	int wanted = last_processor();
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(wanted, &one);
	ck_assert(!sched_setaffinity(0, sizeof(one), &one));
	ck_assert(!prctl(PR_SET_NAME, ") 7 (1 2 3) S"));
	ck_assert_int_eq(procfs_processor(getpid()), wanted);
	ck_assert_int_eq(procfs_state(getpid()), 'R');
	pid = start(pause_here);
	end(pid);
	ck_assert_int_eq(procfs_processor(pid), -1);
}
END_TEST

/* A stopped task gets no signal; a blocked one doesn't count. */
START_TEST(waiting_signals)
{
	sigset_t set;
	pid_t child;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	ck_assert(!procfs_signal_waits(getpid(), 0));
	child = fork();
	/* Not before fork() returns: newer ones block all signals meanwhile. */
	while (!child)
		kill(getpid(), SIGSTOP);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(!procfs_signal_waits(child, 0));
	ck_assert_int_eq(kill(child, SIGUSR1), 0);
	ck_assert(!procfs_signal_waits(child, 0));
	ck_assert_int_eq(kill(child, SIGUSR2), 0);
	ck_assert(procfs_signal_waits(child, 0));
	ck_assert(!procfs_signal_waits(child, 1ull << (SIGUSR2 - 1)));
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(procfs_signal_waits(child, 0));
}
END_TEST

/* As root, it is another user's, if there is one (not in each user namespace). Nothing may be written there: check's own file, to
   which an assertion writes, is longer. */
static void stop_within_limits(void)
{
	const struct rlimit size = { 12345, RLIM_INFINITY };
	const struct rlimit space = { 1ull << 40, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &size) || setrlimit(RLIMIT_AS, &space))
		_exit(1);
	(void)(!getuid() && setresuid(65534, 65534, 65534));
	kill(getpid(), SIGSTOP);
}

START_TEST(limits)
{
	struct procfs_limits limits;
	struct rlimit own;
	pid_t pid = start(spin);
	int status;

	ck_assert_int_eq(procfs_limits(pid, &limits), 0);
	getrlimit(RLIMIT_FSIZE, &own);
	ck_assert_uint_eq(limits.file_size, own.rlim_cur);
	getrlimit(RLIMIT_AS, &own);
	ck_assert_uint_eq(limits.address_space, own.rlim_cur);
	end(pid);
	pid = start(stop_within_limits);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(procfs_limits(pid, &limits), 0);
	ck_assert_uint_eq(limits.file_size, 12345);
	ck_assert_uint_eq(limits.address_space, 1ull << 40);
	end(pid);
	ck_assert_int_lt(procfs_limits(pid, &limits), 0);
}
END_TEST

START_TEST(what_is_gone)
{
	struct procfs_mapping mapping;
	pid_t pid = start(spin), *tids;
	uint64_t value;
	size_t count;

	end(pid);
	ck_assert_int_eq(procfs_tasks(pid, &tids, &count), -ERR_GONE);
	ck_assert_ptr_null(procfs_maps_open(pid));
	ck_assert(!procfs_find_mapping(pid, 0x1000, &mapping));
	ck_assert(!procfs_auxv(pid, sizeof(long), AT_PAGESZ, &value));
	ck_assert_ptr_null(procfs_exe(pid));
	ck_assert_int_lt(procfs_same_space(pid, getpid()), 0);
}
END_TEST

/* kcmp(2) needs CONFIG_KCMP: without, nothing is claimed. */
START_TEST(spaces)
{
	pid_t pid = start(spin);
	int other = procfs_same_space(getpid(), pid);

	ck_assert_int_le(other, 0);
	if (!other)
		ck_assert_int_eq(procfs_same_space(pid, pid), 1);
	end(pid);
}
END_TEST

/* It stays a zombie until it is waited for. */
static pid_t start_zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

/* To kcmp(2) those are in one space that have none: kernel threads, zombies. */
START_TEST(nobodys_space)
{
	pid_t one = start_zombie(), other = start_zombie();

	ck_assert_int_le(procfs_same_space(one, other), 0);
	end(one);
	end(other);
}
END_TEST

/* proc(5), mountinfo. */
START_TEST(served_files_text)
{
	struct served_files files;
	FILE *file = open_text(
		"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
		"40 22 0:41 / /a\\040b rw - fuse.sshfs host:/ rw,user_id=0\n"
		"41 22 0:42 / /n rw shared:7 master:1 - nfs4 host:/n rw\n"
		"42 22 0:43 / /f rw - fuse served rw\n"
		"43 22 0:44 / /c rw - fusectl none rw\n"
		"44 22 0:45 / /t rw - tmpfs nfs rw\n"
		"garbage - nfs\n");

	served_files_parse(&files, file);
	fclose(file);
	ck_assert_uint_eq(files.count, 3);
	ck_assert(!files.many);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(files.devices[i].major, 0);
		ck_assert_uint_eq(files.devices[i].minor, 41 + i);
	}
}
END_TEST

/* A line that is longer than what is read of it says nothing of its type. */
START_TEST(served_files_garbage)
{
	const size_t size = 100000, end = size - size % 24 - 48;
	char *text = malloc(size);
	struct served_files files;
	FILE *file;

	memset(text, 'x', size);
	memcpy(text, "40 22 0:41 / /", 14);
	strcpy(text + size - 40, " - ext4 a\n42 22 0:43 / /f - nfs f\n");
	file = open_text(text);
	served_files_parse(&files, file);
	fclose(file);
	ck_assert_uint_eq(files.count, 2);
	ck_assert_uint_eq(files.devices[0].minor, 41);
	ck_assert_uint_eq(files.devices[1].minor, 43);
	for (size_t at = 0; at + 40 < size; at += 24)
		memcpy(text + at, "1 1 0:9 / / - nfs f rw \n", 24);
	text[end] = '\0';
	for (size_t at = 23; at < end; at += 24)
		text[at] = '\n';
	file = open_text(text);
	served_files_parse(&files, file);
	fclose(file);
	ck_assert_uint_eq(files.count, SERVED_DEVICES);
	ck_assert(files.many);
	free(text);
}
END_TEST

/* The test may itself run where system calls are filtered. */
START_TEST(filtered)
{
	struct sock_filter allow[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(allow), allow };
	struct procfs_status status;

	ck_assert_int_eq(procfs_status(getpid(), &status), 0);
	ck_assert(procfs_is_filtered(getpid()) == (status.seccomp != 0));
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return; /* a kernel without */
	ck_assert(procfs_is_filtered(getpid()));
}
END_TEST

static Suite *procfs_suite(void)
{
	Suite *suite = suite_create("procfs");
	TCase *tcase = tcase_create("status");

	tcase_add_test(tcase, status_text);
	tcase_add_test(tcase, times);
	tcase_add_test(tcase, each_line_of_a_long_file);
	tcase_add_test(tcase, lines_without_end);
	tcase_add_test(tcase, shadow_stack);
	tcase_add_test(tcase, pointer_tags);
	tcase_add_test(tcase, status_of_kernel_thread);
	tcase_add_test(tcase, kernel_threads);
	tcase_add_test(tcase, status_names);
	tcase_add_test(tcase, status_garbage);
	tcase_add_test(tcase, status_of_real_tasks);
	tcase_add_test(tcase, filtered);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("maps");
	tcase_add_test(tcase, maps_text);
	tcase_add_test(tcase, maps_long_paths);
	tcase_add_test(tcase, maps_garbage);
	tcase_add_test(tcase, maps_of_real_file);
	tcase_add_test(tcase, maps_snapshot);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("processes");
	tcase_add_test(tcase, served_files_text);
	tcase_add_test(tcase, served_files_garbage);
	tcase_add_test(tcase, auxiliary_vector);
	tcase_add_test(tcase, executable);
	tcase_add_test(tcase, tasks_of_threads);
	tcase_add_test(tcase, places_text);
	tcase_add_test(tcase, blocked_in_syscall);
	tcase_add_test(tcase, memory_shared_with_a_child);
	tcase_add_test(tcase, not_blocked_in_syscall);
	tcase_add_test(tcase, live_task);
	tcase_add_test(tcase, processor);
	tcase_add_test(tcase, waiting_signals);
	tcase_add_test(tcase, limits);
	tcase_add_test(tcase, what_is_gone);
	tcase_add_test(tcase, spaces);
	tcase_add_test(tcase, nobodys_space);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(procfs_suite());
}
