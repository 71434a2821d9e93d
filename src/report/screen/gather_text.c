/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/gather_private.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "heap/caller.h"
#include "report/format/amounts.h"
#include "report/format/frame_text.h"
#include "report/format/names.h"
#include "report/format/short_name.h"
#include "stack/stacks.h"

#define NAME_WIDTH 56

void gather_copy(char *ret, size_t room, const struct strbuf *text)
{
	size_t length = text->length;

	if (length >= room) {
		length = room - 1;
		while (length &&
		       ((unsigned char)text->text[length] & 0xc0) == 0x80)
			length--;
	}
	if (length)
		memcpy(ret, text->text, length);
	ret[length] = '\0';
}

/* Its debug information is being read, or has been. */
static bool are_known(const struct gather *gather, const struct site *site,
		      struct frame *frames, size_t room, size_t *count_ret)
{
	*count_ret = stacks_frames(gather->options.stacks, site->stack, frames,
				   room);
	return namer_prefetch(gather->options.namer, frames, *count_ret);
}

static void add_place(const struct frame_name *name, struct strbuf *out)
{
	if (name->file) {
		strbuf_putc(out, ' ');
		names_escape(out, file_base_name(name->file));
		if (name->line)
			strbuf_printf(out, ":%u", name->line);
	} else if (*name->library) {
		strbuf_puts(out, " in ");
		names_escape(out, file_base_name(name->library));
	}
}

/* Allocators have wrappers: many sites have the same one, and differ in who
   called that. */
#define CALLERS      3
#define CALLER_WIDTH 32

static bool is_start(const struct frame_name *name)
{
	return name->linkage && (!strncmp(name->linkage, "__libc_start",
					  strlen("__libc_start")) ||
				 !strcmp(name->linkage, "_start"));
}

static size_t find_frame(const struct frame *frames, size_t count,
			 const struct frame *frame)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].code == frame->code &&
		    frames[i].address == frame->address)
			return i;
	return count;
}

/* " < sdsnewlen < main" */
static void add_callers(const struct gather *gather, const struct frame *frames,
			size_t count, const struct frame *frame,
			struct strbuf *out)
{
	unsigned added = 0;

	for (size_t i = find_frame(frames, count, frame) + 1;
	     i < count && added < CALLERS; i++) {
		const struct frame_name *names;
		size_t n =
			namer_names(gather->options.namer, &frames[i], &names);

		if (is_start(&names[n - 1]))
			return;
		if (!names[n - 1].function)
			continue;
		strbuf_puts(out, " < ");
		short_name_add(out, names[n - 1].function, CALLER_WIDTH);
		added++;
	}
}

bool gather_name(const struct gather *gather, const struct watched *process,
		 const struct site *site, struct strbuf *out)
{
	struct frame frames[HEAP_CALLER_DEPTH], frame;
	const struct frame_name *caller = NULL;
	size_t count;
	bool known = are_known(gather, site, frames, HEAP_CALLER_DEPTH, &count);

	if (watch_next(gather->options.watch,
		       watch_next(gather->options.watch, NULL)))
		strbuf_printf(out, "[%d] ", (int)process->pid);
	if (known)
		caller = heap_caller(gather->options.stacks,
				     gather->options.namer, NULL, site, &frame);
	if (caller) {
		short_name_add(out, caller->function, NAME_WIDTH);
		if (caller->file)
			add_place(caller, out);
		add_callers(gather, frames, count, &frame, out);
	} else {
		names_escape(out, site->library && *site->library ?
					  file_base_name(site->library) :
					  "?");
		if (!known)
			strbuf_puts(out, " (its names are being read)");
	}
	strbuf_puts(out, ", by ");
	frame_text_add_allocator(site->function->name, out);
	return known;
}

static void add_frame(const struct frame *frame, const struct frame_name *name,
		      struct strbuf *out)
{
	strbuf_puts(out, "  ");
	if (name->function)
		short_name_add(out, name->function, NAME_WIDTH);
	else
		strbuf_printf(out, "%#" PRIx64, frame->address);
	add_place(name, out);
	strbuf_putc(out, '\n');
}

static void add_frames(const struct gather *gather, const struct site *site,
		       struct strbuf *out)
{
	struct frame known[UNWIND_DEPTH_MAX];
	struct frame *frames CLEANUP(xfree_cleanup) = NULL;
	size_t count;

	if (!are_known(gather, site, known, UNWIND_DEPTH_MAX, &count)) {
		strbuf_puts(out, "  (the names of its frames are being "
				 "read)\n");
		return;
	}
	frames = namer_frames(gather->options.namer, gather->options.stacks,
			      site->stack, site->function->name, &count);
	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;
		size_t inlined =
			namer_names(gather->options.namer, &frames[i], &names);

		for (size_t k = 0; k < inlined; k++)
			add_frame(&frames[i], &names[k], out);
	}
	if (!count)
		strbuf_puts(out, "  (no frame is known)\n");
}

static void add_site(const struct gather *gather, const struct watched *process,
		     const struct site *site, struct strbuf *out)
{
	const struct judged *judged = judged_find(gather, process);

	if (judged && site->number <= judged->count && site->blocks) {
		strbuf_puts(out, "  why: ");
		verdict_explain(verdicts_site(judged->verdicts, site), site,
				out);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "  ");
	amounts_add_number(out, site->alloc_blocks);
	strbuf_puts(out, " acquired, ");
	amounts_add_number(out, site->freed_blocks);
	strbuf_puts(out, " given back, ");
	amounts_add_number(out, site->blocks);
	strbuf_puts(out, " held; by ");
	frame_text_add_allocator(site->function->name, out);
	strbuf_puts(out, " from\n");
	add_frames(gather, site, out);
}

/* Of what is no site itself, those that hold most. */
#define SITES 5

struct largest {
	const struct watched *process;
	const struct site *site;
};

static void insert(struct largest list[SITES], const struct watched *process,
		   const struct site *site)
{
	size_t i = SITES;

	while (i &&
	       (!list[i - 1].site || list[i - 1].site->bytes < site->bytes))
		i--;
	if (i == SITES)
		return;
	memmove(&list[i + 1], &list[i], (SITES - 1 - i) * sizeof(*list));
	list[i] = (struct largest){ process, site };
}

static void add_largest(const struct gather *gather,
			const struct largest list[SITES], struct strbuf *out)
{
	strbuf_puts(out, "  most of it by\n");
	for (size_t i = 0; i < SITES && list[i].site; i++) {
		strbuf_puts(out, "  ");
		amounts_add_size(out, list[i].site->bytes);
		strbuf_puts(out, "  ");
		(void)gather_name(gather, list[i].process, list[i].site, out);
		strbuf_putc(out, '\n');
	}
}

void gather_stack(const struct gather *gather, enum live_by by, uint64_t key,
		  struct strbuf *out)
{
	struct largest list[SITES] = { { 0 } };
	const struct watch *watch = gather->options.watch;
	const struct watched *process;

	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process))
		for (size_t n = 1; n <= heap_site_count(process->heap); n++) {
			const struct site *site = heap_site(process->heap, n);

			if (tally_has(by, key, process, site))
				insert(list, process, site);
		}
	if (!list[0].site)
		strbuf_puts(out,
			    by == LIVE_BY_THREAD ?
				    "  (g shows sites; those have stacks)\n" :
				    "  (it is gone)\n");
	else if (by == LIVE_BY_SITE)
		add_site(gather, list[0].process, list[0].site, out);
	else
		add_largest(gather, list, out);
}
