/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "heap/forecast.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/text.h"

/* The process as the kernel sees it, and where its growth leads. */

/* "1,036,288 bytes (+4,096)": now, and what it has become more. */
static void add_changed(struct strbuf *out, const char *name, uint64_t first,
			uint64_t now)
{
	strbuf_printf(out, "%s ", name);
	amounts_add_number(out, now);
	strbuf_puts(out, now < first ? " (-" : " (+");
	amounts_add_number(out, now < first ? first - now : now - first);
	strbuf_putc(out, ')');
}

/* The last that was seen of a process which has ended since. */
#define AGE_MIN (NS_PER_SECOND / 100)

static void add_age(const struct heap_text *text)
{
	const struct watched *process = text->process;

	if (!process->end || process->end < process->sampled + AGE_MIN)
		return;
	strbuf_puts(heap_text_out(text), ", ");
	amounts_add_duration(heap_text_out(text),
			     process->end - process->sampled);
	strbuf_puts(heap_text_out(text), " before its end");
}

static int add_sizes(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	const struct vitals *now = &text->process->vitals;
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "bytes: ");
	add_changed(out, "VIRT", first->virtual_bytes, now->virtual_bytes);
	add_changed(out, ", RSS", first->resident_bytes, now->resident_bytes);
	if (now->machine_bytes)
		strbuf_printf(out, ", %%MEM %.1f",
			      100.0 * now->resident_bytes / now->machine_bytes);
	add_changed(out, ", swap", first->swapped_bytes, now->swapped_bytes);
	add_age(text);
	return heap_text_end_line(text);
}

#define MANY_MORE 8 /* a leak leaves as many, and comes on top of others */

/* What grows unwatched is named, with what watches it. */
static void add_advice(const struct heap_text *text, uint64_t first,
		       uint64_t now, const char *pool)
{
	const struct families *families = text->config->families;

	if (now < first + MANY_MORE)
		return;
	for (size_t i = 0; i < families_count(families); i++)
		if (!strcmp(families_at(families, i)->name, pool))
			return;
	strbuf_printf(heap_text_out(text), ": --pool %s shows where from",
		      pool);
}

/* Memory of files goes when it is needed elsewhere. */
static int add_kinds(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	const struct vitals *now = &text->process->vitals;
	struct strbuf *out = heap_text_out(text);

	if (!now->anonymous_bytes && !now->file_bytes)
		return 0;
	strbuf_puts(out, "of RSS: ");
	add_changed(out, "anonymous", first->anonymous_bytes,
		    now->anonymous_bytes);
	add_changed(out, ", files", first->file_bytes, now->file_bytes);
	if (now->own_bytes)
		add_changed(out, ", calltrap's own", first->own_bytes,
			    now->own_bytes);
	return heap_text_end_line(text);
}

static int add_others(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	const struct vitals *now = &text->process->vitals;
	struct strbuf *out = heap_text_out(text);

	if (!now->descriptors && !now->threads)
		return 0;
	strbuf_puts(out, "also: ");
	add_changed(out, "descriptors", first->descriptors, now->descriptors);
	add_advice(text, first->descriptors, now->descriptors, "descriptors");
	add_changed(out, ", threads", first->threads, now->threads);
	add_advice(text, first->threads, now->threads, "threads");
	if (now->mappings)
		add_changed(out, ", mappings", first->mappings, now->mappings);
	add_advice(text, first->mappings, now->mappings, "mappings");
	return heap_text_end_line(text);
}

static int add_faults(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	const struct vitals *now = &text->process->vitals;
	uint64_t watched = text->now - text->process->start;
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "page faults: ");
	amounts_add_number(out, now->minor_faults - first->minor_faults);
	strbuf_puts(out, " minor (");
	amounts_add_rate(out, now->minor_faults - first->minor_faults, watched);
	strbuf_puts(out, " a second), ");
	amounts_add_number(out, now->major_faults - first->major_faults);
	strbuf_puts(out, " major");
	return heap_text_end_line(text);
}

/* "98 %": of one processor. */
static void add_share(struct strbuf *out, uint64_t processor_ns, uint64_t ns)
{
	strbuf_printf(out, "%.0f %% of a processor",
		      ns ? 100.0 * processor_ns / ns : 0);
}

static int add_processor(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	const struct vitals *now = &text->process->vitals;

	if (!first->age_ns || now->age_ns <= first->age_ns)
		return 0;
	strbuf_puts(heap_text_out(text), "it used ");
	add_share(heap_text_out(text), now->processor_ns - first->processor_ns,
		  now->age_ns - first->age_ns);
	return heap_text_end_line(text);
}

#define AGE_TOLD NS_PER_SECOND /* of less there is no average */

/* What it was like without us, to compare with. */
static int add_before(const struct heap_text *text)
{
	const struct vitals *first = &text->process->first_vitals;
	struct strbuf *out = heap_text_out(text);

	if (text->process->complete || first->age_ns < AGE_TOLD)
		return 0;
	strbuf_puts(out, "before that, in ");
	amounts_add_duration(out, first->age_ns);
	strbuf_puts(out, " since its start: ");
	amounts_add_rate(out, first->minor_faults + first->major_faults,
			 first->age_ns);
	strbuf_puts(out, " page faults a second, ");
	add_share(out, first->processor_ns, first->age_ns);
	return heap_text_end_line(text);
}

static int add_cgroup(const struct heap_text *text)
{
	const struct vitals *now = &text->process->vitals;
	struct strbuf *out = heap_text_out(text);

	if (!now->cgroup_version)
		return 0;
	strbuf_printf(out, "cgroup v%u: ", now->cgroup_version);
	if (now->limit_bytes) {
		amounts_add_bytes(out, now->cgroup_bytes);
		strbuf_puts(out, " of at most ");
		amounts_add_bytes(out, now->limit_bytes);
	} else {
		strbuf_puts(out, "no limit");
	}
	strbuf_puts(out, "; OOM kills: ");
	amounts_add_number(out, now->oom_kills);
	if (now->oom_kills > text->process->first_vitals.oom_kills) {
		strbuf_puts(out, ", ");
		amounts_add_number(
			out,
			now->oom_kills - text->process->first_vitals.oom_kills);
		strbuf_puts(out, " of them while this was watched");
	}
	return heap_text_end_line(text);
}

/* ---- where it leads ---- */

bool heap_text_room(const struct vitals *now, struct heap_text_room *ret)
{
	uint64_t most = now->machine_bytes, used = now->resident_bytes;

	ret->what = "all of this machine's memory";
	if (now->limit_bytes) {
		ret->what = "the cgroup's limit";
		most = now->limit_bytes;
		used = now->cgroup_bytes;
	}
	ret->bytes = most > used ? most - used : 0;
	return most;
}

#define SOURCES 2

/* Nobody wants to hear of them. */
static size_t without_suppressed(struct rise_source *sources, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!sources[i].site->suppression)
			sources[kept++] = sources[i];
	return kept;
}

static void add_sources(const struct heap_text *text,
			const struct family *family)
{
	struct rise_source sources[SOURCES];
	size_t count = without_suppressed(
		sources, rise_sources(text->process->heap, family,
				      text->rows->survey, sources, SOURCES));
	double share = 0;

	for (size_t i = 0; i < count; i++)
		share += sources[i].share;
	if (!count)
		return;
	strbuf_printf(heap_text_out(text), ", %.0f %% of it from stack%s",
		      100 * share, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		strbuf_printf(heap_text_out(text), "%s %u (", i ? " and" : "",
			      (unsigned)sources[i].site->number);
		heap_text_site(text, sources[i].site);
		strbuf_putc(heap_text_out(text), ')');
	}
}

void heap_text_forecast(const struct heap_text *text, const char *before,
			const struct heap_text_room *room,
			const struct forecast *forecast)
{
	struct strbuf *out = heap_text_out(text);

	if (!forecast->certain)
		return;
	strbuf_printf(out, "%s%s ", before, room->what);
	forecast_print(forecast, out);
	if (text->process->state == WATCHED_EXITED)
		strbuf_puts(out, " if it had not ended");
}

static int add_trend(const struct heap_text *text, const struct rise *rise,
		     const struct family *family)
{
	struct forecast forecast;
	struct heap_text_room room;
	struct strbuf *out = heap_text_out(text);

	if (!rise->certain)
		return 0;
	if (family)
		strbuf_printf(out, "memory of %s grows by ", family->name);
	else
		strbuf_puts(out, "RSS grows by ");
	amounts_add_bytes(out, rise->trend.slope);
	strbuf_puts(out, " a second");
	if (heap_text_room(&text->process->vitals, &room)) {
		forecast = forecast_of(rise, room.bytes);
		heap_text_forecast(text, ": ", &room, &forecast);
	}
	if (family && text->rows)
		add_sources(text, family);
	return heap_text_end_line(text);
}

struct rise heap_text_rise(const struct heap_text *text,
			   const struct family *family)
{
	const struct watched *process = text->process;
	uint64_t watched = text->now - process->start;
	struct rise rise;

	if (!family)
		return rise_of(&process->resident, watched);
	rise = rise_of(heap_total_history(process->heap, family), watched);
	if (text->rows)
		rise_without_replaced(&rise, process->heap, family,
				      text->rows->survey);
	return rise;
}

static int add_trends(const struct heap_text *text)
{
	const struct families *families = text->config->families;
	struct rise rise = heap_text_rise(text, NULL);
	int err = add_trend(text, &rise, NULL);

	for (size_t i = 0; !err && i < families_count(families); i++) {
		const struct family *family = families_at(families, i);

		if (!family->has_size)
			continue;
		rise = heap_text_rise(text, family);
		err = add_trend(text, &rise, family);
	}
	return err;
}

int heap_text_process(const struct heap_text *text)
{
	int err;

	/* One that was seen but at its very beginning has said nothing yet. */
	if (text->process->samples < 2)
		return 0;
	strbuf_puts(heap_text_out(text), "---- PROCESS");
	err = heap_text_end_line(text);
	if (!err)
		err = add_sizes(text);
	if (!err)
		err = add_kinds(text);
	if (!err)
		err = add_others(text);
	if (!err)
		err = add_faults(text);
	if (!err)
		err = add_processor(text);
	if (!err)
		err = add_before(text);
	if (!err)
		err = add_cgroup(text);
	return err ? err : add_trends(text);
}
