/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/glossary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "heap/families.h"
#include "recording/numbers.h"
#include "recording/recorded.h"

void glossary_init(struct glossary *glossary, struct stacks *stacks,
		   struct families *families, struct namer *namer)
{
	*glossary = (struct glossary){
		.stacks = stacks,
		.families = families,
		.namer = namer,
		.missing = xcalloc(GLOSSARY_FAMILIES_MAX, sizeof(bool)),
	};
}

void glossary_fini(struct glossary *glossary)
{
	for (size_t i = 0; i < glossary->process_count; i++) {
		free(glossary->processes[i].program);
		free(glossary->processes[i].name);
		free(glossary->processes[i].inherited);
	}
	free(glossary->missing);
	free(glossary->drafts);
	free(glossary->functions);
	free(glossary->processes);
	free(glossary->threads);
	free(glossary->codes);
	free(glossary->frames);
	free(glossary->stack_list);
	free(glossary->path);
	free(glossary->sites);
	*glossary = (struct glossary){ 0 };
}

static char *take_text(struct cursor *in)
{
	struct cursor part = take_part(in);

	return part.bad || !part.size ?
		       xstrdup("") :
		       xstrndup((const char *)part.bytes, part.size);
}

/* Room for one more, which is zeroed. Only the next number is a new one. */
static void *add(void *items, size_t *count, size_t *room, size_t size)
{
	char *grown = xgrow(items, *count, room, size);

	memset(grown + *count * size, 0, size);
	++*count;
	return grown;
}

#define ADD(glossary, items, what)                                             \
	((glossary)->items = add((glossary)->items, &(glossary)->what##_count, \
				 &(glossary)->what##_room,                     \
				 sizeof(*(glossary)->items)),                  \
	 &(glossary)->items[(glossary)->what##_count - 1])

/* ---- families ---- */

static bool is_told(const struct glossary *glossary,
		    const struct family_draft *draft)
{
	for (size_t i = 0; i < glossary->family_count; i++)
		if (glossary->drafts[i] == draft)
			return true;
	return false;
}

/* The next one, or again one that was told. Others may have been there before,
   of another recording. NULL: it is neither. */
static struct family_draft *told_family(struct glossary *glossary,
					uint64_t number,
					const struct cursor *name)
{
	struct family_draft *draft = families_family(glossary->families,
						     (const char *)name->bytes,
						     name->size);

	if (draft->family.index >= GLOSSARY_FAMILIES_MAX)
		return NULL;
	if (number <= glossary->family_count)
		return glossary->drafts[number - 1] == draft ? draft : NULL;
	if (is_told(glossary, draft))
		return NULL;
	*ADD(glossary, drafts, family) = draft;
	return draft;
}

/* What blocks are kept by doesn't change while some are. */
static bool is_as_before(const struct family *family, uint64_t flags,
			 uint64_t granularity)
{
	return family->has_size == !!(flags & FAMILY_HAS_SIZE) &&
	       family->null_is_nothing == !!(flags & FAMILY_NULL_IS_NOTHING) &&
	       family->shared == !!(flags & FAMILY_SHARED) &&
	       family->partly == !!(flags & FAMILY_PARTLY) &&
	       family->collected == !!(flags & FAMILY_COLLECTED) &&
	       family->granularity == granularity;
}

static bool read_family(struct glossary *glossary, uint64_t number,
			struct cursor *in)
{
	struct cursor name = take_part(in), unit = take_part(in);
	uint64_t flags = take_varint(in), granularity = take_varint(in);
	const bool again = number <= glossary->family_count;
	struct family_draft *draft;

	if (in->bad || !name.size || granularity & (granularity - 1) ||
	    !number || number > glossary->family_count + 1)
		return false;
	draft = told_family(glossary, number, &name);
	if (!draft ||
	    (again && !is_as_before(&draft->family, flags, granularity)))
		return false;
	draft->family.unit =
		families_text(glossary->families,
			      unit.size ? (const char *)unit.bytes : "",
			      unit.size);
	draft->family.has_size = flags & FAMILY_HAS_SIZE;
	draft->family.null_is_nothing = flags & FAMILY_NULL_IS_NOTHING;
	draft->family.shared = flags & FAMILY_SHARED;
	draft->family.partly = flags & FAMILY_PARTLY;
	draft->family.collected = flags & FAMILY_COLLECTED;
	draft->family.granularity = granularity;
	glossary->missing[draft->family.index] = flags & FAMILY_MISSING;
	return true;
}

static enum operand_kind kind_of(uint64_t flags, unsigned flag)
{
	return flags & flag ? OPERAND_ARGUMENT : OPERAND_NONE;
}

static const struct family_function *
add_function(struct glossary *glossary, struct family_draft *draft,
	     const struct family_function *function, const struct cursor *name)
{
	const char *text = families_text(glossary->families,
					 (const char *)name->bytes, name->size);
	const struct family_function *added;

	families_add(glossary->families, draft, function, text, strlen(text));
	added = families_find(glossary->families, text);
	while (added && added->family != &draft->family)
		added = added->next;
	return added;
}

static bool read_function(struct glossary *glossary, uint64_t number,
			  struct cursor *in)
{
	uint64_t family = take_varint(in), act = take_varint(in);
	uint64_t flags = take_varint(in);
	struct cursor name = take_part(in), form = take_part(in);
	struct family_function function = {
		.act = act,
		.handle.kind = kind_of(flags, FUNCTION_HAS_HANDLE),
		.old.kind = kind_of(flags, FUNCTION_HAS_OLD),
		.size.kind = flags & FUNCTION_HAS_PRODUCT ?
				     OPERAND_PRODUCT :
				     kind_of(flags, FUNCTION_HAS_SIZE),
		.old_size.kind = kind_of(flags, FUNCTION_HAS_OLD_SIZE),
		.success.compare = flags & FUNCTION_ALWAYS_SUCCEEDS ?
					   COMPARE_ALWAYS :
					   COMPARE_NOT_EQUAL,
	};

	if (in->bad || !name.size || memchr(name.bytes, 0, name.size) ||
	    !family || family > glossary->family_count || act > FAMILY_MOVE ||
	    number != glossary->function_count + 1)
		return false;
	if (flags & FUNCTION_HAS_FORM)
		function.form =
			families_text(glossary->families,
				      form.size ? (const char *)form.bytes : "",
				      form.size);
	*ADD(glossary, functions, function) =
		add_function(glossary, glossary->drafts[family - 1], &function,
			     &name);
	return glossary->functions[number - 1] != NULL;
}

/* ---- stacks ---- */

/* The file, if it is still the one that ran. */
static struct image *find_image(const char *path, const struct cursor *id)
{
	struct image *image = NULL;
	const uint8_t *own;
	size_t size = 0;
	struct stat status;
	int fd = -1;

	/* To open what is no file may do something. */
	if (*path == '/' && id->size && !stat(path, &status) &&
	    S_ISREG(status.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && image_open(fd, path, &image))
		image = NULL;
	if (fd >= 0)
		close(fd);
	own = image ? image_build_id(image, &size) : NULL;
	if (own && size == id->size && !memcmp(own, id->bytes, size)) {
		image_set_debug_path(image, "", path);
		return image;
	}
	image_put(image);
	return NULL;
}

static bool read_code(struct glossary *glossary, uint64_t number,
		      struct cursor *in)
{
	char *path CLEANUP(xfree_cleanup) = take_text(in);
	uint64_t flags = take_varint(in);
	struct cursor id = take_part(in);
	struct image *image = NULL;

	if (in->bad || number != glossary->code_count + 1)
		return false;
	if (flags & CODE_HAS_IMAGE)
		image = find_image(path, &id);
	ADD(glossary, codes, code)->code =
		image ? stacks_code(glossary->stacks, image, path, 0) :
			stacks_lost_code(glossary->stacks, path);
	image_put(image);
	return true;
}

static bool read_frame(struct glossary *glossary, uint64_t number,
		       struct cursor *in)
{
	uint64_t code = take_varint(in), address = take_varint(in);
	uint64_t method = take_varint(in);
	struct glossary_frame *added;

	if (in->bad || number != glossary->frame_count + 1 || !code ||
	    code > glossary->code_count ||
	    (method > FRAME_GUESSED && method != FRAME_SCRIPT))
		return false;
	added = ADD(glossary, frames, frame);
	added->frame = (struct frame){ glossary->codes[code - 1].code, address,
				       method };
	added->number = stacks_frame_number(glossary->stacks, &added->frame);
	return true;
}

#define ENDS 3

static bool read_stack(struct glossary *glossary, uint64_t number,
		       struct cursor *in)
{
	uint64_t outer = take_varint(in), frame = take_varint(in);

	if (in->bad || number != glossary->stack_count + 1 || !frame ||
	    frame > glossary->frame_count || outer == ENDS ||
	    (outer > ENDS && outer - ENDS > glossary->stack_count) ||
	    number >= UINT32_MAX - ENDS)
		return false;
	*ADD(glossary, stack_list, stack) =
		(struct glossary_stack){ .outer = outer, .frame = frame - 1 };
	return true;
}

/* Its callers are of lower numbers, and at most as many as it has frames. */
static stack_id stack_of(struct glossary *glossary, uint32_t number)
{
	struct glossary_stack *const list = glossary->stack_list;
	size_t count = 0;
	uint32_t outer = number + ENDS;
	stack_id id;

	for (; outer > ENDS && !list[outer - ENDS - 1].id;
	     outer = list[outer - ENDS - 1].outer) {
		glossary->path = xgrow(glossary->path, count,
				       &glossary->path_room,
				       sizeof(*glossary->path));
		glossary->path[count++] = outer - ENDS - 1;
	}
	id = outer > ENDS ? list[outer - ENDS - 1].id : stacks_begin(outer);
	while (count--) {
		struct glossary_stack *stack = &list[glossary->path[count]];

		id = stacks_extend(glossary->stacks, id,
				   glossary->frames[stack->frame].number);
		stack->id = id;
	}
	return id;
}

static const struct frame *innermost(const struct glossary *glossary,
				     uint64_t stack)
{
	return &glossary->frames[glossary->stack_list[stack - 1].frame].frame;
}

static bool read_site(struct glossary *glossary, uint64_t number,
		      struct cursor *in)
{
	uint64_t function = take_varint(in), stack = take_varint(in);
	struct glossary_site *added;

	if (in->bad || number != glossary->site_count + 1 || !function ||
	    function > glossary->function_count ||
	    stack > glossary->stack_count)
		return false;
	added = ADD(glossary, sites, site);
	added->function = glossary->functions[function - 1];
	added->untold = stack;
	if (stack)
		added->library = innermost(glossary, stack)->code->path;
	return true;
}

/* ---- processes and threads ---- */

#define DESCRIPTORS_MAX (1u << 20)

static bool read_process(struct glossary *glossary, uint64_t number,
			 struct cursor *in)
{
	struct glossary_process *added;
	uint64_t count;

	if (number != glossary->process_count + 1)
		return false;
	added = ADD(glossary, processes, process);
	added->pid = take_varint(in);
	added->start = take_varint(in);
	added->flags = take_varint(in);
	added->program = take_text(in);
	added->name = take_text(in);
	count = take_varint(in);
	if (in->bad || count > in->size - in->position ||
	    count > DESCRIPTORS_MAX)
		return false;
	added->inherited = xcalloc(count + 1, sizeof(*added->inherited));
	for (uint64_t i = 0; i < count; i++)
		added->inherited[i] = take_varint(in);
	added->inherited_count = count;
	return !in->bad;
}

static bool read_thread(struct glossary *glossary, uint64_t number,
			struct cursor *in)
{
	struct glossary_thread thread = { .process = take_varint(in),
					  .tid = take_varint(in) };
	struct cursor name = take_part(in);

	if (in->bad || !number || number > glossary->thread_count + 1 ||
	    !glossary_process(glossary, thread.process))
		return false;
	if (number > glossary->thread_count)
		*ADD(glossary, threads, thread) = thread;
	if (name.size < sizeof(thread.name)) {
		struct glossary_thread *known = &glossary->threads[number - 1];

		memset(known->name, 0, sizeof(known->name));
		if (name.size)
			memcpy(known->name, name.bytes, name.size);
	}
	return true;
}

/* ---- names ---- */

#define NAMES_MAX 256

static const char *text_or_null(char *text)
{
	if (*text)
		return text;
	free(text);
	return NULL;
}

static struct frame_name take_name(struct cursor *in)
{
	struct frame_name name = { 0 };

	name.function = text_or_null(take_text(in));
	name.linkage = text_or_null(take_text(in));
	name.offset = take_varint(in);
	name.file = text_or_null(take_text(in));
	name.line = take_varint(in);
	name.start_line = take_varint(in);
	name.inlined = take_varint(in) & NAME_INLINED;
	return name;
}

static bool take_names(struct glossary *glossary, const struct frame *frame,
		       struct cursor *in)
{
	struct frame_name *names;
	uint64_t count = take_varint(in);

	if (in->bad || !count || count > NAMES_MAX)
		return false;
	names = xcalloc(count, sizeof(*names));
	for (uint64_t i = 0; i < count; i++)
		names[i] = take_name(in);
	/* Two frames may have one place, and the same names. */
	if (!in->bad && glossary->namer)
		(void)namer_teach(glossary->namer, frame, names, count);
	else
		namer_forget(names, count);
	return !in->bad;
}

static bool read_names(struct glossary *glossary, uint64_t number,
		       struct cursor *in)
{
	return number && number <= glossary->frame_count &&
	       take_names(glossary, &glossary->frames[number - 1].frame, in);
}

static bool read_tails(struct glossary *glossary, struct cursor *in)
{
	uint64_t outer = take_varint(in), inner = take_varint(in), count;
	char *callee CLEANUP(xfree_cleanup) = take_text(in);
	uint64_t addresses[NAMER_TAILS_MAX];
	struct frame tail = { .method = FRAME_TAIL };

	count = take_varint(in);
	if (in->bad || !outer || outer > glossary->frame_count ||
	    inner > glossary->frame_count || !count ||
	    count > ARRAY_SIZE(addresses))
		return false;
	tail.code = glossary->frames[outer - 1].frame.code;
	for (uint64_t i = 0; i < count; i++) {
		tail.address = addresses[i] = take_varint(in);
		if (!take_names(glossary, &tail, in))
			return false;
	}
	if (glossary->namer)
		namer_teach_tails(glossary->namer,
				  &glossary->frames[outer - 1].frame,
				  inner ? &glossary->frames[inner - 1].frame :
					  NULL,
				  callee, addresses, count);
	return true;
}

/* ---- */

static bool read_entry(struct glossary *glossary, uint64_t kind,
		       struct cursor *in)
{
	uint64_t number = take_varint(in);

	if (glossary->complete && kind != ENTRY_FAMILY)
		return true;
	switch (kind) {
	case ENTRY_PROCESS:
		return read_process(glossary, number, in);
	case ENTRY_THREAD:
		return read_thread(glossary, number, in);
	case ENTRY_FAMILY:
		return read_family(glossary, number, in);
	case ENTRY_FUNCTION:
		return read_function(glossary, number, in);
	case ENTRY_CODE:
		return read_code(glossary, number, in);
	case ENTRY_FRAME:
		return read_frame(glossary, number, in);
	case ENTRY_STACK:
		return read_stack(glossary, number, in);
	case ENTRY_SITE:
		return read_site(glossary, number, in);
	case ENTRY_NAMES:
		return read_names(glossary, number, in);
	case ENTRY_TAILS:
		return read_tails(glossary, in);
	}
	/* What later versions may add. */
	return true;
}

bool glossary_read(struct glossary *glossary, const void *bytes, size_t size,
		   uint32_t count)
{
	struct cursor in = cursor_of(bytes, size);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t kind = take_varint(&in);
		struct cursor part = take_part(&in);

		if (in.bad || !read_entry(glossary, kind, &part))
			return false;
	}
	return true;
}

const struct glossary_process *glossary_process(const struct glossary *glossary,
						uint64_t number)
{
	return number && number <= glossary->process_count ?
		       &glossary->processes[number - 1] :
		       NULL;
}

const struct glossary_thread *glossary_thread(const struct glossary *glossary,
					      uint64_t number)
{
	return number && number <= glossary->thread_count ?
		       &glossary->threads[number - 1] :
		       NULL;
}

void glossary_expect_site(const struct glossary *glossary, uint64_t number)
{
	if (number && number <= glossary->site_count)
		__builtin_prefetch(&glossary->sites[number - 1]);
}

struct glossary_site *glossary_site(struct glossary *glossary, uint64_t number)
{
	struct glossary_site *site;

	if (!number || number > glossary->site_count)
		return NULL;
	site = &glossary->sites[number - 1];
	if (site->untold)
		site->stack = stack_of(glossary, site->untold);
	site->untold = 0;
	return site;
}
