/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <string.h>

#include "base/xalloc.h"
#include "doctor/check.h"
#include "doctor/gather.h"

/* Facts as other machines have them than this one. */

static struct findings findings;

/* A machine and a process where everything works, of user 1000. */
static struct machine_facts machine(void)
{
	return (struct machine_facts){
		.release = "6.12.1",
		.own = { .uids = { 1000, 1000, 1000, 1000 },
			 .gids = { 100, 100, 100, 100 } },
		.yama = -1,
		.perf_paranoid = 1,
		.pagemap_scans = true,
		.descriptors = 1024,
		.has_debuginfod = true,
		.debuginfod_urls = "https://example.org",
		.has_agent = true,
		.constant_tsc = true,
		.nonstop_tsc = true,
		.steady_tsc = true,
	};
}

static struct module_facts program = { (char *)"/bin/x", (char *)"12ab", 0,
				       true, false };

static struct process_facts process(void)
{
	return (struct process_facts){
		.pid = 7,
		.status = { .name = "x",
			    .state = 'S',
			    .tgid = 7,
			    .own_pid = 7,
			    .uids = { 1000, 1000, 1000, 1000 },
			    .gids = { 100, 100, 100, 100 },
			    .has_memory = true },
		.name = "x",
		.vitals = { .room_bytes = UINT64_MAX, .cgroup_version = 2 },
		.has_vitals = true,
		.spare = 1 << 20,
		.arch = "x86_64",
		.allocator = "glibc's malloc",
		.modules = &program,
		.module_count = 1,
	};
}

static void tear_down(void)
{
	findings_fini(&findings);
}

static void see_machine(const struct machine_facts *facts)
{
	findings_fini(&findings);
	check_machine(facts, &findings);
}

static void see(const struct machine_facts *m, const struct process_facts *p)
{
	findings_fini(&findings);
	check_process(m, p, &findings);
}

static const struct finding *found(const char *what)
{
	for (size_t i = 0; i < findings.count; i++)
		if (!strcmp(findings.list[i].what, what))
			return &findings.list[i];
	ck_abort_msg("nothing was found of %s", what);
	return NULL;
}

/* remedy: a part of it, or NULL when there must be none. */
static void check(const char *what, enum verdict verdict, const char *words,
		  const char *remedy)
{
	const struct finding *finding = found(what);

	ck_assert_msg(finding->verdict == verdict, "%s: %d: %s", what,
		      finding->verdict, finding->words);
	ck_assert_msg(strstr(finding->words, words) != NULL, "%s: %s", what,
		      finding->words);
	ck_assert_msg(remedy ? finding->remedy &&
				       strstr(finding->remedy, remedy) :
			       !finding->remedy,
		      "%s: %s", what,
		      finding->remedy ? finding->remedy : "no remedy");
}

START_TEST(all_is_well)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	check_machine(&m, &findings);
	check_process(&m, &p, &findings);
	for (size_t i = 0; i < findings.count; i++) {
		ck_assert_msg(findings.list[i].verdict == VERDICT_OK, "%s: %s",
			      findings.list[i].what, findings.list[i].words);
		ck_assert_ptr_null(findings.list[i].remedy);
	}
	ck_assert(findings_allow_tracing(&findings));
}
END_TEST

static const struct {
	const char *release;
	enum verdict verdict;
	const char *words, *remedy;
	bool works;
} kernels[] = {
	{ "3.10.0-1160.el7.x86_64", VERDICT_NO, "too old", "4.18", false },
	{ "4.17.19", VERDICT_NO, "too old", "4.18", false },
	{ "4.18.0-553.el8", VERDICT_LIMITED, "no system calls (-S)", "5.3",
	  true },
	{ "5.2.21", VERDICT_LIMITED, "no system calls (-S)", "5.3", true },
	{ "5.3.0", VERDICT_LIMITED, "huge pages", "6.7", true },
	{ "6.6.9", VERDICT_LIMITED, "huge pages", "6.7", true },
	{ "6.7", VERDICT_OK, "6.7", NULL, true },
	{ "6.10.1", VERDICT_OK, "6.10.1", NULL, true },
	{ "10.0-rc1", VERDICT_OK, "10.0", NULL, true },
	{ "nonsense", VERDICT_LIMITED, "can't be told", NULL, true },
};

START_TEST(kernel)
{
	struct machine_facts m = machine();

	strcpy(m.release, kernels[_i].release);
	see_machine(&m);
	check("kernel", kernels[_i].verdict, kernels[_i].words,
	      kernels[_i].remedy);
	ck_assert(findings_allow_tracing(&findings) == kernels[_i].works);
}
END_TEST

/* Each of Yama's levels, without and with CAP_SYS_PTRACE. */
static const struct {
	int yama;
	bool able;
	enum verdict verdict;
	const char *words, *remedy;
} scopes[] = {
	{ -1, false, VERDICT_OK, "of user 1000", NULL },
	{ 0, false, VERDICT_OK, "of user 1000", NULL },
	{ 1, false, VERDICT_LIMITED, "that calltrap starts", "ptrace_scope=0" },
	{ 2, false, VERDICT_NO, "CAP_SYS_PTRACE only", "ptrace_scope=1" },
	{ 3, false, VERDICT_NO, "until the next boot", "boot anew" },
	{ -1, true, VERDICT_OK, "all users", NULL },
	{ 1, true, VERDICT_OK, "all users", NULL },
	{ 2, true, VERDICT_OK, "all users", NULL },
	{ 3, true, VERDICT_NO, "until the next boot", "boot anew" },
};

START_TEST(yama)
{
	struct machine_facts m = machine();

	m.yama = scopes[_i].yama;
	if (scopes[_i].able)
		m.own.caps_effective = UINT64_C(1) << CAP_SYS_PTRACE;
	see_machine(&m);
	check("ptrace", scopes[_i].verdict, scopes[_i].words,
	      scopes[_i].remedy);
	ck_assert(findings_allow_tracing(&findings) ==
		  (scopes[_i].verdict != VERDICT_NO));
}
END_TEST

START_TEST(machine_without)
{
	struct machine_facts m = machine();

	m.ptrace_error = -EPERM;
	see_machine(&m);
	check("ptrace", VERDICT_NO, "filtered", "--cap-add SYS_PTRACE");
	ck_assert(!findings_allow_tracing(&findings));
	m = machine();
	m.thread_error = -EPERM;
	see_machine(&m);
	check("threads", VERDICT_NO, "filtered", "clone3");
	ck_assert(!findings_allow_tracing(&findings));
	m.thread_error = -EAGAIN;
	see_machine(&m);
	check("threads", VERDICT_NO, "Resource temporarily", "ulimit -u");
	ck_assert(!findings_allow_tracing(&findings));
	m = machine();
	memset(m.own.uids, 0, sizeof(m.own.uids));
	see_machine(&m);
	check("ptrace", VERDICT_LIMITED, "root without CAP_SYS_PTRACE",
	      "--cap-add");
	m = machine();
	m.code_error = -EIO;
	see_machine(&m);
	check("traps", VERDICT_LIMITED, "by tracers at most", "proc_mem");
	ck_assert(findings_allow_tracing(&findings));
	m.code_forbidden = true;
	see_machine(&m);
	check("traps", VERDICT_NO, "never", "proc_mem");
	ck_assert(!findings_allow_tracing(&findings));
	m = machine();
	m.descriptors = 20;
	see_machine(&m);
	check("descriptors", VERDICT_NO, "20 may be open", "ulimit -n");
	ck_assert(!findings_allow_tracing(&findings));
}
END_TEST

/* What a few features need stops no tracing. */
START_TEST(features)
{
	struct machine_facts m = machine();

	m.perf_kernel_error = -EACCES;
	m.perf_paranoid = 2;
	m.pagemap_scans = false;
	m.dirty_bits = true;
	m.debuginfod_urls = NULL;
	m.nonstop_tsc = false;
	see_machine(&m);
	check("page faults", VERDICT_LIMITED, "paranoid is 2", "CAP_PERFMON");
	check("pagemap", VERDICT_LIMITED, "entry by entry", "6.7");
	check("pages in use", VERDICT_LIMITED, "at least", "SOFT_DIRTY");
	check("debuginfod", VERDICT_LIMITED, "DEBUGINFOD_URLS", "export");
	check("processor clock", VERDICT_LIMITED, "no nonstop_tsc", "trap");
	m.perf_error = -EACCES;
	m.perf_paranoid = 4;
	m.pagemap_error = -ENOENT;
	m.touch_error = -ENOENT;
	m.has_debuginfod = false;
	m.steady_tsc = false;
	see_machine(&m);
	check("page faults", VERDICT_NO, "paranoid is 4", "CAP_PERFMON");
	check("pagemap", VERDICT_NO, "isn't told", "PAGE_MONITOR");
	check("pages in use", VERDICT_NO, "clear_refs: No such",
	      "PAGE_MONITOR");
	check("debuginfod", VERDICT_LIMITED, "no library", "libdebuginfod1");
	check("processor clock", VERDICT_LIMITED, "no invariant TSC", "trap");
	m.has_agent = false;
	see_machine(&m);
	check("processor clock", VERDICT_LIMITED, "this processor", "trap");
	m.perf_error = -ENOSYS;
	see_machine(&m);
	check("page faults", VERDICT_NO, "no perf events", "a kernel with");
	ck_assert(findings_allow_tracing(&findings));
}
END_TEST

static void see_absent(const struct process_facts *p, const char *words)
{
	struct machine_facts m = machine();

	see(&m, p);
	check("process", VERDICT_NO, words, "");
	ck_assert_uint_eq(findings.count, 1);
	ck_assert(!findings_allow_tracing(&findings));
}

START_TEST(absent)
{
	struct process_facts p = process();

	p.error = -ERR_GONE;
	see_absent(&p, "there is no process 7");
	p.error = -EACCES;
	see_absent(&p, "can't be read");
	p = process();
	p.status.tgid = 6;
	see_absent(&p, "a thread of process 6");
	p = process();
	p.status.has_memory = false;
	see_absent(&p, "has just ended");
	p.kernel_thread = true;
	see_absent(&p, "a kernel thread");
	p.status.state = 'Z';
	see_absent(&p, "a zombie");
}
END_TEST

/* ---- permission ---- */

static void see_denied(const struct machine_facts *m,
		       const struct process_facts *p, const char *words,
		       const char *remedy)
{
	see(m, p);
	check("permission", VERDICT_NO, words, remedy);
	ck_assert(!findings_allow_tracing(&findings));
}

START_TEST(denied_to_users)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.access = -EACCES;
	see_denied(&m, &p, "a security module", "as root");
	m.yama = 1;
	see_denied(&m, &p, "own children only", "ptrace_scope=0");
	m.yama = 2;
	see_denied(&m, &p, "root only", "ptrace_scope=1");
	m.yama = 3;
	see_denied(&m, &p, "nobody may", "boot anew");
	m.yama = 1;
	p.status.caps_permitted = 1 << CAP_NET_RAW;
	see_denied(&m, &p, "capabilities that calltrap hasn't", "as root");
	m.own.caps_permitted = 1 << CAP_NET_RAW;
	see_denied(&m, &p, "own children only", "ptrace_scope=0");
	p.undumpable = true;
	see_denied(&m, &p, "isn't dumpable", "as root");
	p.status.uids[2] = 0;
	see_denied(&m, &p, "another user", "as root");
}
END_TEST

START_TEST(denied_to_root)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	memset(m.own.uids, 0, sizeof(m.own.uids));
	p.access = -EACCES;
	see_denied(&m, &p, "another user", "--cap-add SYS_PTRACE");
	m.own.caps_effective = UINT64_C(1) << CAP_SYS_PTRACE;
	see_denied(&m, &p, "another user", "CAP_DAC_OVERRIDE, too");
	m.own.caps_effective |= UINT64_C(1) << CAP_DAC_OVERRIDE;
	see_denied(&m, &p, "even with CAP_SYS_PTRACE", "SELinux");
	p.foreign[NS_USER] = 1;
	see_denied(&m, &p, "user namespace", "outside of the container");
	m.yama = 3;
	see_denied(&m, &p, "nobody may", "boot anew");
}
END_TEST

START_TEST(traced_already)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.status.tracer = 99;
	strcpy(p.tracer_name, "gdb");
	see_denied(&m, &p, "process 99 (gdb)", "end that one");
}
END_TEST

/* ---- the rest of a process ---- */

START_TEST(agent)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.status.seccomp = 2;
	see(&m, &p);
	check("agent", VERDICT_NO, "seccomp (a filter)", "trap");
	p.status.seccomp = 0;
	p.status.shadow_stack = true;
	see(&m, &p);
	check("agent", VERDICT_NO, "shadow stacks", "trap");
	check("shadow stack", VERDICT_OK, "it has one", NULL);
	p.arch = "i386";
	see(&m, &p);
	check("agent", VERDICT_NO, "64 bits", "trap");
	m.steady_tsc = false;
	see(&m, &p);
	check("agent", VERDICT_NO, "isn't steady", "trap");
	m.has_agent = false;
	see(&m, &p);
	check("agent", VERDICT_NO, "none for this processor", "trap");
	ck_assert(findings_allow_tracing(&findings));
}
END_TEST

START_TEST(limits)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.vitals.room_bytes = p.spare + 4095;
	strcpy(p.vitals.room_path, "/sys/fs/cgroup/a");
	see(&m, &p);
	check("memory limit", VERDICT_NO, "1027 KiB are left", "raise");
	check("memory limit", VERDICT_NO, "(/sys/fs/cgroup/a)", "raise");
	ck_assert(!findings_allow_tracing(&findings));
	p.vitals.room_bytes = p.spare + 3 * 4096;
	see(&m, &p);
	check("memory limit", VERDICT_LIMITED, "in 3 pages", "few functions");
	ck_assert(findings_allow_tracing(&findings));
	p.vitals.room_bytes = p.spare + (1 << 20);
	see(&m, &p);
	check("memory limit", VERDICT_OK, "2048 KiB are left", NULL);
	p.vitals.room_bytes = UINT64_MAX;
	p.vitals.cgroup_version = 1;
	see(&m, &p);
	check("memory limit", VERDICT_OK, "none (cgroup v1)", NULL);
	p.vitals.cgroup_version = 0;
	see(&m, &p);
	check("memory limit", VERDICT_LIMITED, "no cgroup", "mount");
}
END_TEST

START_TEST(name_spaces)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.foreign[NS_PID] = p.foreign[NS_MNT] = 1;
	p.status.own_pid = 3;
	see(&m, &p);
	check("namespaces", VERDICT_OK,
	      "its own: pid, mnt; to itself it is "
	      "process 3",
	      NULL);
	p.foreign[NS_NET] = -EACCES;
	see(&m, &p);
	check("namespaces", VERDICT_LIMITED, "isn't told", "permission");
}
END_TEST

START_TEST(programs)
{
	struct machine_facts m = machine();
	struct process_facts p = process();

	p.frozen = true;
	see(&m, &p);
	check("process", VERDICT_LIMITED, "is frozen", "thaw");
	ck_assert(findings_allow_tracing(&findings));
	p.program_error = -ENOEXEC;
	see(&m, &p);
	check("process", VERDICT_NO, "doesn't know", "x86_64 or i386");
	ck_assert(!findings_allow_tracing(&findings));
}
END_TEST

START_TEST(modules)
{
	struct machine_facts m = machine();
	struct process_facts p = process();
	struct module_facts module = { (char *)"/lib/libx.so", (char *)"12ab",
				       0, false, false };

	p.modules = &module;
	see(&m, &p);
	check("debug information", VERDICT_LIMITED,
	      "asked for of debuginfod "
	      "(build-id 12ab)",
	      NULL);
	m.debuginfod_urls = NULL;
	see(&m, &p);
	check("debug information", VERDICT_LIMITED, "/lib/libx.so: none",
	      "DEBUGINFOD_URLS");
	module.build_id = (char *)"";
	see(&m, &p);
	check("debug information", VERDICT_LIMITED, "no build-id", "-g");
	module.error = -ENOENT;
	see(&m, &p);
	check("debug information", VERDICT_LIMITED, "can't be opened", "root");
	p.modules_left = 5;
	p.allocator = "jemalloc";
	see(&m, &p);
	check("allocator", VERDICT_LIMITED, "jemalloc", "calltrap heap");
	ck_assert_ptr_nonnull(
		strstr(findings.list[findings.count - 1].words, "5 further"));
	p.allocator = NULL;
	see(&m, &p);
	check("allocator", VERDICT_NO, "no malloc", "--pool");
	ck_assert(findings_allow_tracing(&findings));
	p.program_error = -EACCES;
	see(&m, &p);
	check("allocator", VERDICT_LIMITED, "not known", "permission");
}
END_TEST

/* ---- what is shown ---- */

START_TEST(text)
{
	struct strbuf out = { 0 };

	findings_add(&findings, VERDICT_LIMITED, "a", "do that", "%s",
		     "x\n\033[2J");
	findings_add(&findings, VERDICT_OK, "b", NULL, "%d", 1);
	findings_add_vital(&findings, VERDICT_NO, "c", "e", "d");
	findings_text(&findings, &out);
	ck_assert_str_eq(strbuf_text(&out), "limited  a: x??[2J; do that\n"
					    "ok       b: 1\n"
					    "no       c: d; e\n");
	strbuf_fini(&out);
	ck_assert(!findings_allow_tracing(&findings));
}
END_TEST

START_TEST(json)
{
	json_t *array;

	findings_add_vital(&findings, VERDICT_NO, "a", "do that", "\xff");
	findings_add(&findings, VERDICT_OK, "b", NULL, "w");
	array = findings_json(&findings);
	ck_assert_uint_eq(json_array_size(array), 2);
	ck_assert_str_eq(json_string_value(
				 json_object_get(json_array_get(array, 0),
						 "remedy")),
			 "do that");
	ck_assert_ptr_null(json_object_get(json_array_get(array, 1), "remedy"));
	ck_assert(json_is_true(
		json_object_get(json_array_get(array, 0), "vital")));
	json_decref(array);
}
END_TEST

START_TEST(cpu_flags)
{
	const char *line =
		"flags\t\t: fpu nonstop_tsc_s3 constant_tsc rdtscp\n";

	ck_assert(cpu_flags_have(line, "constant_tsc"));
	ck_assert(cpu_flags_have(line, "fpu"));
	ck_assert(cpu_flags_have(line, "rdtscp"));
	ck_assert(!cpu_flags_have(line, "nonstop_tsc"));
	ck_assert(!cpu_flags_have(line, "tsc"));
	ck_assert(!cpu_flags_have("flags", "flags"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tests = tcase_create("doctor");

	tcase_add_checked_fixture(tests, NULL, tear_down);
	tcase_add_test(tests, all_is_well);
	tcase_add_loop_test(tests, kernel, 0, ARRAY_SIZE(kernels));
	tcase_add_loop_test(tests, yama, 0, ARRAY_SIZE(scopes));
	tcase_add_test(tests, machine_without);
	tcase_add_test(tests, features);
	tcase_add_test(tests, absent);
	tcase_add_test(tests, denied_to_users);
	tcase_add_test(tests, denied_to_root);
	tcase_add_test(tests, traced_already);
	tcase_add_test(tests, agent);
	tcase_add_test(tests, limits);
	tcase_add_test(tests, name_spaces);
	tcase_add_test(tests, programs);
	tcase_add_test(tests, modules);
	tcase_add_test(tests, text);
	tcase_add_test(tests, json);
	tcase_add_test(tests, cpu_flags);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
