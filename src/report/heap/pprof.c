/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/xalloc.h"
#include "heap/caller.h"
#include "heap/verdict.h"
#include "report/format/amounts.h"
#include "report/heap/export.h"
#include "report/heap/shares.h"
#include "report/memory/heap_rates.h"
#include "report/profile/reader.h"
#include "report/profile/stacks.h"

/*
 * A profile for pprof. The innermost frame is who called the allocator, as in
 * profiles of Go and tcmalloc: so "flat" is what a function has asked for, and
 * `list' shows it beside the line. Which allocator it was is a label.
 */

struct pprof {
	const struct heap_export *export;
	struct profile_writer writer;
	struct profile_stacks stacks;
	struct heap_shares *shares;
};

/* ---- what is worth a sample ---- */

static const struct heap *heap_of(const struct pprof *pprof)
{
	return pprof->export->process->heap;
}

#define for_each_shown(pprof, i, site)                               \
	for ((i) = 1; (i) <= heap_site_count(heap_of(pprof)); (i)++) \
		if (heap_export_is_shown(                            \
			    (site) = heap_site(heap_of(pprof), (i))))

/* ---- samples ---- */

static void add_labels(struct pprof *pprof, const struct site *site,
		       struct profile_labels *labels)
{
	const struct heap_report_config *config = pprof->export->config;
	struct profile_writer *writer = &pprof->writer;
	struct verdict verdict =
		verdict_of(heap_of(pprof), site, pprof->export->survey);
	const char *component = heap_report_component(config, site->component);
	const struct frame_name *caller;
	struct frame frame;

	caller = heap_caller(config->stacks, config->namer, config->wrappers,
			     site, &frame);
	if (caller)
		profile_labels_add_text(labels, writer, "caller",
					caller->function);
	profile_labels_add_text(labels, writer, "allocator",
				site->function->name);
	profile_labels_add_text(labels, writer, "family",
				site->function->family->name);
	profile_labels_add_text(labels, writer, "library",
				file_base_name(site->library));
	profile_labels_add_text(labels, writer, "verdict",
				verdict_name(verdict.level));
	if (component)
		profile_labels_add_text(labels, writer, "component", component);
	profile_labels_add_number(labels, writer, "bytes",
				  site->alloc_bytes / site->alloc_blocks,
				  "bytes");
}

/* Its name, which may be that of many, and its number. */
static void add_thread_labels(struct pprof *pprof, pid_t tid,
			      struct profile_labels *labels)
{
	if (!tid)
		return;
	profile_labels_add_text(labels, &pprof->writer, "thread",
				heap_thread_name(heap_of(pprof), tid));
	profile_labels_add_number(labels, &pprof->writer, "tid", tid, NULL);
}

/* Ours, and behind them those that Go's profiles have, too. */
#define OURS   4
#define VALUES 8

/* tid: of those whose sample it is, or 0. */
static void put_sample(struct pprof *pprof, const struct site *site, pid_t tid,
		       int64_t values[VALUES])
{
	const size_t first = pprof->export->served ? OURS : 0;
	struct profile_labels labels = { 0 };

	add_labels(pprof, site, &labels);
	add_thread_labels(pprof, tid, &labels);
	profile_stacks_put(&pprof->stacks, site->stack, site->function->name,
			   values + first, VALUES - first, &labels);
}

/*
 * Where several threads acquire, what each still holds has a sample of its own;
 * the last one has all else: who has acquired what was given back isn't known.
 */
static void put_site(struct pprof *pprof, const struct site *site)
{
	struct heap_export_held rest = heap_export_held(pprof->export, site);
	const struct heap_share *share = heap_shares_of(pprof->shares, site);
	const struct site_amount at_peak = heap_at_peak(heap_of(pprof), site);

	for (; share; share = share->next) {
		int64_t values[VALUES] = { [6] = profile_number(share->blocks),
					   [7] = profile_number(share->bytes) };

		put_sample(pprof, site, share->key.tid, values);
		rest.blocks -= share->blocks;
		rest.bytes -= share->bytes;
	}
	put_sample(pprof, site, heap_site_thread(heap_of(pprof), site),
		   (int64_t[VALUES]){ profile_number(site->temporary.blocks),
				      profile_number(site->temporary.bytes),
				      profile_number(at_peak.blocks),
				      profile_number(at_peak.bytes),
				      profile_number(site->alloc_blocks),
				      profile_number(site->alloc_bytes),
				      profile_number(rest.blocks),
				      profile_number(rest.bytes) });
}

/* ---- the head ---- */

/*
 * A frame with one of these names vanishes, and what it has called: so the
 * pages that an allocator gets for itself are its caller's. Not __libc_.*:
 * __libc_start_main() has called everything.
 */
static const char drop_frames[] =
	"(__libc_|__GI_|je_|tc_|mi_)?"
	"(malloc|calloc|realloc|free|memalign|posix_memalign|aligned_alloc|"
	"valloc|pvalloc|reallocarray|cfree)|"
	"operator (new|delete).*|_Z(nw|na|dl|da)[a-zA-Z0-9_]*";

/* What viewers show first. */
static const char *first_type(enum heap_value value)
{
	static const char *const names[] = {
		[HEAP_INUSE_BYTES] = "inuse_space",
		[HEAP_INUSE_BLOCKS] = "inuse_objects",
		[HEAP_ALLOC_BYTES] = "alloc_space",
		[HEAP_ALLOC_BLOCKS] = "alloc_objects",
		[HEAP_PEAK_BYTES] = "peak_space",
		[HEAP_PEAK_BLOCKS] = "peak_objects",
		[HEAP_TEMPORARY_BLOCKS] = "temporary_objects",
	};

	return names[value];
}

/* Where they don't know of that, it is the last one. */
static void put_types(struct profile_writer *writer, bool served)
{
	if (!served) {
		profile_writer_put_type(writer, "temporary_objects", "count");
		profile_writer_put_type(writer, "temporary_space", "bytes");
		profile_writer_put_type(writer, "peak_objects", "count");
		profile_writer_put_type(writer, "peak_space", "bytes");
	}
	profile_writer_put_type(writer, "alloc_objects", "count");
	profile_writer_put_type(writer, "alloc_space", "bytes");
	profile_writer_put_type(writer, "inuse_objects", "count");
	profile_writer_put_type(writer, "inuse_space", "bytes");
}

static void put_times(struct pprof *pprof)
{
	const struct heap_export *export = pprof->export;
	struct profile_writer *writer = &pprof->writer;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	const uint64_t sample = heap_sample(heap_of(pprof));

	period.type = profile_writer_text(writer, "space");
	period.unit = profile_writer_text(writer, "bytes");
	piece.period_type = &period;
	piece.period = sample ? profile_number(sample) : 1;
	piece.time_nanos =
		profile_number(heap_report_wall(export->config, export->now));
	piece.duration_nanos =
		profile_number(export->now - export->process->start);
	piece.drop_frames = profile_writer_text(writer, drop_frames);
	piece.default_sample_type =
		profile_writer_text(writer, first_type(export->options->value));
	profile_writer_put(writer, &piece);
}

static void put_loss(struct pprof *pprof, uint64_t number, const char *what)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!number)
		return;
	strbuf_printf(&text, "%" PRIu64 " %s", number, what);
	profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
}

static void put_comments(struct pprof *pprof)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct watched *process = pprof->export->process;
	const struct unwind_counts *stacks = &pprof->export->cost->stacks;
	uint64_t older_than = pprof->export->config->options->older_than;

	strbuf_printf(&text, "%s: heap of process %d, %s%s%s", PACKAGE_STRING,
		      (int)process->pid,
		      process->program ? process->program : "",
		      heap_sample(process->heap) ? ", estimated by samples" :
						   "",
		      process->complete ? PROFILE_COMPLETE : "");
	profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
	strbuf_clear(&text);
	if (heap_sample(process->heap))
		heap_rates_add(process->heap, pprof->export->now, &text);
	else
		strbuf_puts(&text, "not a sample: every allocation is in it");
	profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
	if (older_than) {
		strbuf_clear(&text);
		strbuf_puts(&text, "in use: only what is older than ");
		amounts_add_duration(&text, older_than);
		profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
	}
	put_loss(pprof, watched_lost(process), "calls lost");
	put_loss(pprof, heap_unkept(process->heap), "acquisitions not kept");
	put_loss(pprof, stacks->broken,
		 "stacks that could not be followed to their end");
	put_loss(pprof, stacks->cut, "stacks cut at --depth");
}

/* ---- the whole ---- */

static void put_places(struct pprof *pprof)
{
	const struct site *site;
	size_t i;

	for_each_shown(pprof, i, site)
		profile_stacks_add(&pprof->stacks, site->stack,
				   site->function->name);
	profile_stacks_put_places(&pprof->stacks,
				  pprof->export->process->program);
}

void heap_pprof_make(const struct heap_export *export, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	struct pprof pprof = { .export = export };
	const struct site *site;
	size_t i;

	pprof.shares = heap_shares_new(export);
	profile_writer_init(&pprof.writer, &plain);
	pprof.stacks.stacks = export->config->stacks;
	pprof.stacks.namer = export->config->namer;
	pprof.stacks.writer = &pprof.writer;
	put_types(&pprof.writer, export->served);
	put_times(&pprof);
	put_comments(&pprof);
	put_places(&pprof);
	for_each_shown(&pprof, i, site)
		put_site(&pprof, site);
	heap_shares_free(pprof.shares);
	profile_stacks_fini(&pprof.stacks);
	profile_writer_fini(&pprof.writer);
	gzip_add(out, plain.text, plain.length);
}
