/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/log_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "report/format/names.h"

/* So many texts are kept, for the most part short. */
#define TEXTS_MAX 4096

/* The lines of one stack under one function. */
struct stack_text {
	struct stack_key {
		const char *callee;
		uint64_t stack;
	} key;
	char *text;
	size_t length;
	UT_hash_handle hh;
};

struct log_stacks {
	const struct stacks *stacks;
	struct namer *namer;
	struct stack_text *texts;
	bool lasting; /* what is being written says the same another time */
};

struct log_stacks *log_stacks_new(const struct stacks *stacks,
				  struct namer *namer)
{
	struct log_stacks *own = xcalloc(1, sizeof(*own));

	own->stacks = stacks;
	own->namer = namer;
	return own;
}

static void forget_texts(struct log_stacks *own)
{
	struct stack_text *text, *next;

	HASH_ITER(hh, own->texts, text, next) {
		HASH_DEL(own->texts, text);
		free(text->text);
		free(text);
	}
}

void log_stacks_free(struct log_stacks *own)
{
	if (!own)
		return;
	forget_texts(own);
	free(own);
}

static const char *library_name(const struct frame_name *name)
{
	if (!*name->library)
		return name->function ? "[jit]" : "[anon]";
	return file_base_name(name->library);
}

static void add_place(const struct frame_name *name, struct strbuf *out)
{
	if (!name->file)
		return;
	strbuf_putc(out, ' ');
	names_escape(out, name->file);
	if (name->line)
		strbuf_printf(out, ":%u", name->line);
}

/* The offset in a function that was inlined says nothing. */
static void add_function(const struct frame *frame,
			 const struct frame_name *name, struct strbuf *out)
{
	if (name->function)
		names_escape(out, name->function);
	if (name->inlined)
		strbuf_puts(out, ", inlined");
	else if (frame->method != FRAME_HANDLED)
		strbuf_printf(out, "+%#llx",
			      (unsigned long long)(name->function ?
							   name->offset :
							   frame->address));
	if (frame->method == FRAME_TAIL && !name->inlined)
		strbuf_puts(out, ", tail call");
}

static void add_line(const struct frame *frame, const struct frame_name *name,
		     struct strbuf *out)
{
	strbuf_puts(out, " > ");
	names_escape(out, library_name(name));
	strbuf_putc(out, '(');
	add_function(frame, name, out);
	strbuf_printf(out, ") [%#llx]", (unsigned long long)frame->address);
	add_place(name, out);
	strbuf_putc(out, '\n');
}

/* Code that is made at run time may have other names the next time. */
static void add_frame(struct log_stacks *own, const struct frame *frame,
		      struct strbuf *out)
{
	const struct frame_name *names;
	size_t count = namer_names(own->namer, frame, &names), i;

	for (i = 0; i < count; i++) {
		own->lasting &= *names[i].library != '\0';
		add_line(frame, &names[i], out);
	}
}

static void add_end(enum stack_end end, struct strbuf *out)
{
	if (end == STACK_BROKEN)
		strbuf_puts(out, " > ? (what called this is not known)\n");
}

static void prepare(const struct log_stacks *own, stack_id stack)
{
	size_t count = stacks_depth(own->stacks, stack);
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*frames));

	stacks_frames(own->stacks, stack, frames, count);
	namer_prepare(own->namer, frames, count);
}

static void write_stack(struct log_stacks *own, const struct stack_key *key,
			struct strbuf *out)
{
	const uint64_t unfinished = namer_unfinished(own->namer);
	const stack_id stack = (stack_id)key->stack;
	size_t count, i;
	struct frame *frames;

	own->lasting = true;
	prepare(own, stack);
	frames = namer_frames(own->namer, own->stacks, stack, key->callee,
			      &count);
	for (i = 0; i < count; i++)
		add_frame(own, &frames[i], out);
	free(frames);
	/* Debug information that is being fetched may be there the next time. */
	own->lasting &= namer_unfinished(own->namer) == unfinished;
	add_end(stacks_end(own->stacks, stack), out);
}

static void keep(struct log_stacks *own, const struct stack_key *key,
		 const char *text, size_t length)
{
	struct stack_text *one;

	if (HASH_COUNT(own->texts) == TEXTS_MAX)
		forget_texts(own);
	one = xcalloc(1, sizeof(*one));
	one->key = *key;
	one->text = xmalloc(length + 1);
	memcpy(one->text, text, length);
	one->length = length;
	HASH_ADD(hh, own->texts, key, sizeof(one->key), one);
}

int log_stacks_add(struct log_stacks *own, struct output *output,
		   stack_id stack, const char *callee)
{
	const struct stack_key key = { callee, stack };
	struct strbuf *out = &output->text;
	const size_t before = out->length;
	struct stack_text *known;

	HASH_FIND(hh, own->texts, &key, sizeof(key), known);
	if (known) {
		strbuf_add(out, known->text, known->length);
	} else {
		write_stack(own, &key, out);
		if (own->lasting && out->length > before)
			keep(own, &key, out->text + before,
			     out->length - before);
	}
	return output_end_lines(output);
}
