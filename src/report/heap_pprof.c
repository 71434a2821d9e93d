/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/amounts.h"
#include "report/gzip.h"
#include "report/heap_export.h"
#include "report/heap_shares.h"
#include "report/profile_places.h"

/*
 * A profile for pprof. The innermost frame is who called the allocator, as in
 * profiles of Go and tcmalloc: so "flat" is what a function has asked for, and
 * `list' shows it beside the line. Which allocator it was is a label.
 */

struct pprof {
	const struct heap_export *export;
	struct profile_writer writer;
	struct profile_places places;
	struct heap_shares *shares;
	struct frame *frames; /* room for the deepest stack */
	size_t room;
};

/* ---- what is worth a sample ---- */

static const struct heap *heap_of(const struct pprof *pprof)
{
	return pprof->export->process->heap;
}

static bool is_shown(const struct site *site)
{
	return site->function->family->has_size && site->alloc_blocks &&
	       !site->suppression;
}

#define for_each_shown(pprof, i, site)                            \
	for ((i) = 1; (i) <= heap_site_count(heap_of(pprof)); (i)++) \
		if (is_shown((site) = heap_site(heap_of(pprof), (i))))

static size_t frames_of(struct pprof *pprof, const struct site *site)
{
	const struct stacks *stacks = pprof->export->config->stacks;
	size_t depth = stacks_depth(stacks, site->stack);

	if (depth > pprof->room) {
		free(pprof->frames);
		pprof->frames = xcalloc(depth, sizeof(*pprof->frames));
		pprof->room = depth;
	}
	return stacks_frames(stacks, site->stack, pprof->frames, depth);
}

/* ---- samples ---- */

#define LABELS_MAX 8

struct labels {
	Pprof__Label all[LABELS_MAX];
	Pprof__Label *pointers[LABELS_MAX];
	size_t count;
};

static Pprof__Label *add_label(struct pprof *pprof, struct labels *labels,
			       const char *key)
{
	Pprof__Label *label = &labels->all[labels->count];

	pprof__label__init(label);
	label->key = profile_writer_text(&pprof->writer, key);
	labels->pointers[labels->count++] = label;
	return label;
}

static void add_text_label(struct pprof *pprof, struct labels *labels,
			   const char *key, const char *text)
{
	if (text && *text)
		add_label(pprof, labels, key)->text =
			profile_writer_text(&pprof->writer, text);
}

static void add_labels(struct pprof *pprof, const struct site *site,
		       struct labels *labels)
{
	const struct heap_report_config *config = pprof->export->config;
	struct verdict verdict =
		verdict_of(heap_of(pprof), site, pprof->export->survey);
	Pprof__Label *bytes;

	add_text_label(pprof, labels, "allocator", site->function->name);
	add_text_label(pprof, labels, "family", site->function->family->name);
	add_text_label(pprof, labels, "library", file_base_name(site->library));
	add_text_label(pprof, labels, "verdict", verdict_name(verdict.level));
	if (site->component && site->component <= config->component_count)
		add_text_label(pprof, labels, "component",
			       config->components[site->component - 1]);
	bytes = add_label(pprof, labels, "bytes");
	bytes->number = profile_number(site->alloc_bytes / site->alloc_blocks);
	bytes->number_unit = profile_writer_text(&pprof->writer, "bytes");
}

/* Its name, which may be that of many, and its number. */
static void add_thread_labels(struct pprof *pprof, pid_t tid,
			      struct labels *labels)
{
	if (!tid)
		return;
	add_text_label(pprof, labels, "thread",
		       heap_thread_name(heap_of(pprof), tid));
	add_label(pprof, labels, "tid")->number = tid;
}

#define VALUES 4

/* tid: of those whose sample it is, or 0. */
static void put_sample(struct pprof *pprof, const struct site *site, pid_t tid,
		       int64_t values[VALUES])
{
	size_t depth = frames_of(pprof, site), i;
	uint64_t *ids CLEANUP(xfree_cleanup) =
		xcalloc(depth + 1, sizeof(*ids));
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	struct labels labels = { 0 };

	for (i = 0; i < depth; i++)
		ids[i] = profile_places_id(&pprof->places, &pprof->frames[i]);
	if (stacks_end(pprof->export->config->stacks, site->stack) !=
	    STACK_COMPLETE)
		ids[depth++] = pprof->places.cut_id;
	add_labels(pprof, site, &labels);
	add_thread_labels(pprof, tid, &labels);
	sample.n_location_ids = depth;
	sample.location_ids = ids;
	sample.n_values = VALUES;
	sample.values = values;
	sample.n_labels = labels.count;
	sample.labels = labels.pointers;
	piece.n_samples = 1;
	piece.samples = &samples;
	profile_writer_put(&pprof->writer, &piece);
}

/*
 * Where several threads acquire, what each still holds has a sample of its own;
 * the last one has all else: who has acquired what was given back isn't known.
 */
static void put_site(struct pprof *pprof, const struct site *site)
{
	struct heap_export_held rest = heap_export_held(pprof->export, site);
	const struct heap_share *share = heap_shares_of(pprof->shares, site);

	for (; share; share = share->next) {
		int64_t values[VALUES] = { 0, 0, profile_number(share->blocks),
					   profile_number(share->bytes) };

		put_sample(pprof, site, share->key.tid, values);
		rest.blocks -= share->blocks;
		rest.bytes -= share->bytes;
	}
	put_sample(pprof, site, heap_site_thread(heap_of(pprof), site),
		   (int64_t[VALUES]){ profile_number(site->alloc_blocks),
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

/* The last type is what viewers show first. */
static void put_types(struct profile_writer *writer)
{
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

	period.type = profile_writer_text(writer, "space");
	period.unit = profile_writer_text(writer, "bytes");
	piece.period_type = &period;
	/* Nothing is sampled: every call is seen. */
	piece.period = 1;
	piece.time_nanos = profile_number(clock_wall(export->now));
	piece.duration_nanos =
		profile_number(export->now - export->process->start);
	piece.drop_frames = profile_writer_text(writer, drop_frames);
	piece.default_sample_type = profile_writer_text(writer, "inuse_space");
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

	strbuf_printf(&text, "%s: heap of process %d, %s%s", PACKAGE_STRING,
		      (int)process->pid, process->program ? process->program : "",
		      process->complete ? ", from its start" : "");
	profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
	if (older_than) {
		strbuf_clear(&text);
		strbuf_puts(&text, "in use: only what is older than ");
		amounts_add_duration(&text, older_than);
		profile_writer_put_comment(&pprof->writer, strbuf_text(&text));
	}
	put_loss(pprof, process->unreadable + process->unseen, "calls lost");
	put_loss(pprof, heap_unkept(process->heap), "acquisitions not kept");
	put_loss(pprof, stacks->broken,
		 "stacks that could not be followed to their end");
	put_loss(pprof, stacks->cut, "stacks cut at --depth");
}

/* ---- the whole ---- */

static void put_places(struct pprof *pprof)
{
	const struct profile_places_config config = {
		.namer = pprof->export->config->namer,
		.main = pprof->export->process->program ?
				pprof->export->process->program :
				"",
		.writer = &pprof->writer,
	};
	const struct site *site;
	size_t i;

	for_each_shown(pprof, i, site) {
		size_t depth = frames_of(pprof, site);

		for (size_t k = 0; k < depth; k++)
			profile_places_add(&pprof->places, &pprof->frames[k]);
	}
	profile_places_put(&pprof->places, &config);
}

void heap_pprof_make(const struct heap_export *export, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	struct pprof pprof = { .export = export };
	const struct site *site;
	size_t i;

	pprof.shares = heap_shares_new(export);
	profile_writer_init(&pprof.writer, &plain);
	put_types(&pprof.writer);
	put_times(&pprof);
	put_comments(&pprof);
	put_places(&pprof);
	for_each_shown(&pprof, i, site)
		put_site(&pprof, site);
	heap_shares_free(pprof.shares);
	profile_places_fini(&pprof.places);
	profile_writer_fini(&pprof.writer);
	free(pprof.frames);
	gzip_add(out, plain.text, plain.length);
}
