/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "growth/view.h"
#include "report/format/amounts.h"
#include "report/growth/text.h"

/* How page faults were seen, and what of them was not. */

static void add_amount(struct strbuf *out, const char *before, uint64_t number,
		       const char *behind)
{
	if (!number)
		return;
	strbuf_puts(out, before);
	amounts_add_number(out, number);
	strbuf_puts(out, behind);
}

static void add_events(struct strbuf *out,
		       const struct growth_fault_source *source)
{
	strbuf_puts(out, "page faults were seen one by one (perf events), ");
	if (source->in_kernel) {
		strbuf_puts(out, "with those in system calls: ");
		amounts_add_number(out, source->in_system_calls);
		add_amount(out, " (", source->in_bulk, " not one by one)");
	} else {
		strbuf_puts(out, "but for those in system calls, which are "
				 "not for this user "
				 "(kernel.perf_event_paranoid)");
	}
	add_amount(out, "; lost: ", source->lost, "");
	add_amount(out, "; held back by the kernel: ", source->throttled,
		   " times");
	if (source->refused) {
		add_amount(out, "; of ", source->refused,
			   " threads none can be seen: ");
		strbuf_puts(out, source->error == -ENOBUFS ?
					 "no more memory may be locked "
					 "(kernel.perf_event_mlock_kb, "
					 "ulimit -l)" :
					 strerror(-source->error));
	}
}

static void add_looks(struct strbuf *out,
		      const struct growth_fault_source *source)
{
	strbuf_puts(out, "page faults can't be seen here (perf_event_open: ");
	strbuf_puts(out, strerror(-source->error));
	strbuf_puts(out, "): pages that were there anew in ");
	amounts_add_count(out, source->looks, "look");
	strbuf_puts(out, " are told, by who has mapped the memory, or by its "
			 "name");
	add_amount(out, "; not looked at: ", source->unlooked, " bytes");
}

static int add_counted(const struct heap_text *text,
		       const struct growth_view *first,
		       const struct growth_view *last)
{
	const struct vitals *was = &first->vitals, *is = &last->vitals;
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "page faults: ");
	amounts_add_number(out, last->totals[GROWTH_FAULTS].calls);
	strbuf_puts(out, " seen, ");
	amounts_add_number(out, is->minor_faults - was->minor_faults +
					is->major_faults - was->major_faults);
	strbuf_puts(out, " counted by the kernel in the same time");
	return heap_text_end_line(text);
}

int growth_text_faults(const struct heap_text *text)
{
	const struct growth *growth = text->process->growth;
	const struct growth_fault_source source = growth_fault_seen(growth);
	const struct growth_view *first = growth_first_view(growth);
	const struct growth_view *last = growth_last_view(growth);
	struct strbuf *out = heap_text_out(text);
	int err;

	if (!growth_has(growth, GROWTH_FAULTS))
		return 0;
	switch (source.method) {
	case FAULTS_NOT_SEEN:
		strbuf_puts(out, "page faults could not be seen: the process "
				 "was gone too soon");
		break;
	case FAULTS_BY_EVENTS:
		add_events(out, &source);
		break;
	case FAULTS_BY_LOOKING:
		add_looks(out, &source);
		break;
	}
	err = heap_text_end_line(text);
	if (err || source.method != FAULTS_BY_EVENTS || !first || !last)
		return err;
	return add_counted(text, first, last);
}
