/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "stack/idset.h"

/*
 * The ends are the trie's roots: what lies outside the outermost frame. Their
 * numbers come before those of all nodes.
 */
#define FIRST_NODE 4

struct stack_node {
	stack_id outer;
	uint32_t frame;
};

/* Nodes never move: they lie in chunks, and only the list of these grows. */
#define CHUNK_BITS  14
#define CHUNK_NODES (1u << CHUNK_BITS)

/* By file and function. There may be thousands. */
struct script_code {
	struct code code;
	UT_hash_handle hh;
	char key[];
};

struct stacks {
	struct code *codes;
	size_t code_count;
	struct script_code *scripts;
	size_t script_bytes;
	struct frame *frames; /* by number; there is no number 0 */
	size_t frame_count;
	size_t frame_room;
	struct idset frame_set;
	struct stack_node **chunks;
	size_t chunk_count;
	size_t chunk_room;
	uint32_t node_count; /* from FIRST_NODE on */
	struct idset node_set;
};

struct stacks *stacks_new(void)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->frame_count = 1;
	stacks->node_count = FIRST_NODE;
	return stacks;
}

static void free_codes(struct code *code)
{
	struct code *next;

	for (; code; code = next) {
		next = code->next;
		image_put(code->image);
		free((char *)code->path);
		free(code);
	}
}

static void free_scripts(struct script_code *scripts)
{
	struct script_code *script, *next;

	HASH_ITER(hh, scripts, script, next) {
		HASH_DEL(scripts, script);
		free(script);
	}
}

void stacks_free(struct stacks *stacks)
{
	size_t i;

	if (!stacks)
		return;
	free_codes(stacks->codes);
	free_scripts(stacks->scripts);
	free(stacks->frames);
	idset_fini(&stacks->frame_set);
	for (i = 0; i < stacks->chunk_count; i++)
		free(stacks->chunks[i]);
	free(stacks->chunks);
	idset_fini(&stacks->node_set);
	free(stacks);
}

/* ---- code ---- */

static bool is_code_of(const struct code *code, const struct image *image,
		       const char *path, pid_t pid)
{
	return code->image == image && (image || code->pid == pid) &&
	       !strcmp(code->path, path);
}

static struct code *add_code(struct stacks *stacks, struct image *image,
			     const char *path, pid_t pid)
{
	struct code *code = xcalloc(1, sizeof(*code));

	code->image = image ? image_get(image) : NULL;
	code->path = xstrdup(path);
	code->pid = pid;
	code->next = stacks->codes;
	stacks->codes = code;
	stacks->code_count++;
	return code;
}

const struct code *stacks_code(struct stacks *stacks, struct image *image,
			       const char *path, pid_t pid)
{
	struct code *code;

	for (code = stacks->codes; code; code = code->next)
		if (is_code_of(code, image, path, pid))
			return code;
	return add_code(stacks, image, path, pid);
}

const struct code *stacks_lost_code(struct stacks *stacks, const char *path)
{
	return add_code(stacks, NULL, path, -(pid_t)stacks->code_count - 1);
}

/*
 * The names are what lies in the process's memory: it could show others at each
 * call, and fill ours. No program has so many.
 */
#define SCRIPT_BYTES_MAX (32u << 20)

static struct script_code *add_script(struct stacks *stacks,
				      const struct strbuf *key, size_t file)
{
	const size_t length = key->length;
	const size_t size = sizeof(struct script_code) + length + 1;
	struct script_code *script = xcalloc(1, size);

	stacks->script_bytes += size;
	memcpy(script->key, strbuf_text(key), length + 1);
	script->code.path = script->key;
	script->code.function = length > file + 1 ? script->key + file + 1 :
						    NULL;
	HASH_ADD(hh, stacks->scripts, key, length, script);
	return script;
}

const struct code *stacks_script(struct stacks *stacks, const char *file,
				 const char *function)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct script_code *script;

	if (stacks->script_bytes > SCRIPT_BYTES_MAX) {
		file = "(other scripts)";
		function = NULL;
	}
	strbuf_puts(&key, file);
	strbuf_putc(&key, '\0');
	strbuf_puts(&key, function ? function : "");
	HASH_FIND(hh, stacks->scripts, strbuf_text(&key), key.length, script);
	if (!script)
		script = add_script(stacks, &key, strlen(file));
	return &script->code;
}

/* ---- frames ---- */

static uint64_t hash_frame(const struct frame *frame)
{
	return idset_mix(frame->address ^ (uintptr_t)frame->code << 16 ^
			 (uint64_t)frame->method << 60);
}

static uint64_t frame_hash(const void *owner, uint32_t id)
{
	const struct stacks *stacks = owner;

	return hash_frame(&stacks->frames[id]);
}

static bool frame_equal(const void *owner, uint32_t id, const void *key)
{
	const struct stacks *stacks = owner;
	const struct frame *a = &stacks->frames[id], *b = key;

	return a->address == b->address && a->code == b->code &&
	       a->method == b->method;
}

static const struct idset_ops frame_ops = { frame_equal, frame_hash };

uint32_t stacks_frame_number(struct stacks *stacks, const struct frame *frame)
{
	const uint64_t hash = hash_frame(frame);
	uint32_t number =
		idset_find(&stacks->frame_set, &frame_ops, stacks, frame, hash);

	if (number)
		return number;
	if (stacks->frame_count > UINT32_MAX)
		fatal("more frames than numbers");
	stacks->frames = xgrow(stacks->frames, stacks->frame_count,
			       &stacks->frame_room, sizeof(*stacks->frames));
	number = stacks->frame_count++;
	stacks->frames[number] = *frame;
	idset_add(&stacks->frame_set, &frame_ops, stacks, number, hash);
	return number;
}

/* ---- the trie ---- */

static struct stack_node *node_of(const struct stacks *stacks, stack_id id)
{
	uint32_t index = id - FIRST_NODE;

	return &stacks->chunks[index >> CHUNK_BITS][index & (CHUNK_NODES - 1)];
}

static bool is_node(stack_id id)
{
	return id >= FIRST_NODE;
}

static uint64_t hash_node(const struct stack_node *node)
{
	return idset_mix((uint64_t)node->outer << 32 | node->frame);
}

static uint64_t node_hash(const void *owner, uint32_t id)
{
	return hash_node(node_of(owner, id));
}

static bool node_equal(const void *owner, uint32_t id, const void *key)
{
	const struct stack_node *a = node_of(owner, id), *b = key;

	return a->outer == b->outer && a->frame == b->frame;
}

static const struct idset_ops node_ops = { node_equal, node_hash };

static stack_id add_node(struct stacks *stacks, const struct stack_node *node)
{
	stack_id id = stacks->node_count;

	if (id == UINT32_MAX)
		fatal("more stacks than numbers");
	if ((id - FIRST_NODE) >> CHUNK_BITS == stacks->chunk_count) {
		stacks->chunks = xgrow(stacks->chunks, stacks->chunk_count,
				       &stacks->chunk_room,
				       sizeof(*stacks->chunks));
		stacks->chunks[stacks->chunk_count++] =
			xmalloc(CHUNK_NODES * sizeof(struct stack_node));
	}
	stacks->node_count++;
	*node_of(stacks, id) = *node;
	return id;
}

stack_id stacks_begin(enum stack_end end)
{
	return end + 1;
}

stack_id stacks_extend(struct stacks *stacks, stack_id outer,
		       uint32_t frame_number)
{
	const struct stack_node node = { outer, frame_number };
	const uint64_t hash = hash_node(&node);
	stack_id id =
		idset_find(&stacks->node_set, &node_ops, stacks, &node, hash);

	if (!id) {
		id = add_node(stacks, &node);
		idset_add(&stacks->node_set, &node_ops, stacks, id, hash);
	}
	return id;
}

stack_id stacks_intern(struct stacks *stacks, const struct frame *frames,
		       size_t count, enum stack_end end)
{
	stack_id stack = stacks_begin(end);

	while (count--)
		stack = stacks_extend(stacks, stack,
				      stacks_frame_number(stacks,
							  &frames[count]));
	return is_node(stack) ? stack : STACK_NONE;
}

/* ---- asking ---- */

size_t stacks_frames(const struct stacks *stacks, stack_id stack,
		     struct frame *ret, size_t room)
{
	size_t count = 0;

	for (; is_node(stack) && count < room; count++) {
		const struct stack_node *node = node_of(stacks, stack);

		ret[count] = stacks->frames[node->frame];
		stack = node->outer;
	}
	return count;
}

size_t stacks_depth(const struct stacks *stacks, stack_id stack)
{
	size_t depth = 0;

	for (; is_node(stack); depth++)
		stack = node_of(stacks, stack)->outer;
	return depth;
}

enum stack_end stacks_end(const struct stacks *stacks, stack_id stack)
{
	while (is_node(stack))
		stack = node_of(stacks, stack)->outer;
	return stack == STACK_NONE ? STACK_BROKEN : stack - 1;
}

stack_id stacks_caller(const struct stacks *stacks, stack_id stack)
{
	stack_id outer;

	if (!is_node(stack))
		return STACK_NONE;
	outer = node_of(stacks, stack)->outer;
	return is_node(outer) ? outer : STACK_NONE;
}

size_t stacks_nodes(const struct stacks *stacks)
{
	return stacks->node_count - FIRST_NODE;
}

size_t stacks_bytes(const struct stacks *stacks)
{
	return stacks->chunk_count * CHUNK_NODES * sizeof(struct stack_node) +
	       stacks->chunk_room * sizeof(*stacks->chunks) +
	       stacks->node_set.room * sizeof(*stacks->node_set.slots) +
	       stacks->frame_room * sizeof(*stacks->frames) +
	       stacks->frame_set.room * sizeof(*stacks->frame_set.slots);
}
