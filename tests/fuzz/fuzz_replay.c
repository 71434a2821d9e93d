/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of a process that nobody vouches for become a plan, which must be one
 * that can be carried out. Four bytes are a call: what is called and by which
 * thread, two handles, a size. What begins with 'm' is a text of calls.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
#include "heap/families.h"
#include "recording/text_recording.h"
#include "replay/planner.h"
#include "report/file/whole_file.h"
#include "tests/plan_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char text[] = "family malloc counts bytes\n"
			   "acquire malloc(size) = handle\n"
			   "acquire calloc(size) = handle\n"
			   "acquire memalign(_, size) = handle\n"
			   "resize realloc(old, size) = handle\n"
			   "release free(handle)\n";

static const char *const names[] = { "malloc", "calloc", "memalign", "realloc",
				     "free" };

#define BEGUN 4 /* calls that are not over */

struct fuzz {
	struct families *families;
	struct planner *planner;
	struct watched process;
	struct begun {
		bool is_there;
		struct heap_act act;
		uint64_t token;
	} begun[BEGUN];
};

static void tell(struct fuzz *fuzz, struct begun *begun, bool abandoned)
{
	struct act_observer *observer = planner_observer(fuzz->planner);
	const struct observed_act told = { .process = &fuzz->process,
					   .act = &begun->act,
					   .token = begun->token };

	if (abandoned)
		observer->ops->abandoned(observer, &told);
	else
		observer->ops->ended(observer, &told);
	begun->is_there = false;
}

/* One that gives something back is over later, often. */
static void call(struct fuzz *fuzz, const uint8_t bytes[4])
{
	struct act_observer *observer = planner_observer(fuzz->planner);
	struct begun *begun = &fuzz->begun[bytes[0] >> 6];
	const char *name = names[bytes[0] % ARRAY_SIZE(names)];
	const uint64_t handle = (bytes[1] & 15) * 16, old = bytes[1] & 0xf0;
	struct observed_act told = { .process = &fuzz->process,
				     .act = &begun->act };

	if (begun->is_there) {
		begun->act.handle = begun->act.old ? handle : begun->act.handle;
		begun->act.failed = bytes[2] & 1;
		tell(fuzz, begun, bytes[2] & 2);
	}
	begun->act = (struct heap_act){
		.function = families_find(fuzz->families, name),
		.tid = 1 + (bytes[0] >> 3) % 8,
		.handle = handle,
		.old = old,
		.size = bytes[3],
		.failed = bytes[2] & 1,
	};
	begun->token = 0;
	begun->is_there = true;
	if (begun->act.function->act == FAMILY_RELEASE ||
	    begun->act.function->act == FAMILY_RESIZE)
		begun->token = observer->ops->taken(observer, &told);
	if (!begun->token || bytes[2] & 4)
		tell(fuzz, begun, false);
}

static void ignore(void *context, const struct watched *process)
{
	(void)context;
	(void)process;
}

static void read_text(struct fuzz *fuzz, const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct stacks *stacks = stacks_new();
	struct text_log log = { .unfinished = NULL };

	if (write_bytes(fd, bytes, size) || lseek(fd, 0, SEEK_SET))
		__builtin_trap();
	(void)!text_recording_play(fd, fuzz->families, stacks,
				   planner_observer(fuzz->planner), ignore,
				   NULL, &log);
	text_log_fini(&log);
	stacks_free(stacks);
}

static void check(struct fuzz *fuzz)
{
	const struct plan_manner manner = { .touch = true };
	struct replay_plan *plan;
	struct plan_counts counts;
	uint64_t size;
	int fd;

	if (planner_take(fuzz->planner, &manner, &fd, &counts))
		return;
	if (pread(fd, &size, sizeof(size), 0) != sizeof(size))
		__builtin_trap();
	plan = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (plan == MAP_FAILED || plan->size != size || plan_check(plan))
		__builtin_trap();
	munmap(plan, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz fuzz = { .families = families_new(),
			     .planner = planner_new(),
			     .process.pid = 1 };

	families_parse(fuzz.families, "text", text, strlen(text));
	if (size && *bytes == 'm')
		read_text(&fuzz, bytes, size);
	else
		for (size_t i = 0; i + 4 <= size; i += 4)
			call(&fuzz, bytes + i);
	check(&fuzz);
	planner_free(fuzz.planner);
	families_free(fuzz.families);
	return 0;
}
