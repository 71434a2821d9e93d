/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_ids.h"

/* rb_symbols_t: two for each name, of which one is its text; numbers have its kind in
   the lower bits (symbol.c, symbol.h of Ruby 3.1). */
#define ROW_NAMES  512
#define ROW_WORDS  (2 * ROW_NAMES)
#define KIND_BITS  4
#define ROWS_MOST  (1u << 16)
#define TEXTS_SEEN 64

/* In all that may be it. Of most the first one is none; hostile ones share theirs. */
#define LOOKS_MOST (1u << 20)

/* Of all names; a million objects of a class with sixty variables take as many. */
#define NUMBERS_LOOKED_AT (1u << 26)

/* RArray, rarray.h */
#define ARRAY_WITHIN       0x2000
#define ARRAY_WITHIN_SHIFT 15
#define ARRAY_WITHIN_MOST  3
#define ARRAY_COUNT        16
#define ARRAY_ITEMS        32

/* RObject; rb_classext_struct begins with how variables are numbered; st_table
   (robject.h, internal/class.h, variable.h, st.h). */
#define OBJECT_NUMBERS 32
#define CLASS_MORE     24
#define NUMBERS_MOST   1024

struct number_table {
	uint64_t sizes, type, count, bins, begin, end, entries;
};

struct number_entry {
	uint64_t hash, id;
	taddr_t number; /* of 32 bits, and more */
};

struct items {
	taddr_t first;
	uint64_t count;
};

/* Arrays of the interpreter's own have no class. */
static bool own_array(struct memory *memory, taddr_t array, struct items *ret)
{
	struct ruby_head head;

	if (!array || array % 8 ||
	    memory_read(memory, array, &head, sizeof(head)) || head.class ||
	    ruby_kind_of(&head) != RUBY_ARRAY)
		return false;
	ret->first = array + ARRAY_COUNT;
	ret->count = head.flags >> ARRAY_WITHIN_SHIFT & ARRAY_WITHIN_MOST;
	if (!(head.flags & ARRAY_WITHIN)) {
		ret->first = memory_word_at(memory, array + ARRAY_ITEMS);
		ret->count = memory_word_at(memory, array + ARRAY_COUNT);
	}
	return ret->first;
}

/* Most of the first have a text; a few numbers are operators'. */
static bool has_texts(struct memory *memory, const struct items *row)
{
	unsigned texts = 0;
	char text[RUBY_TEXT_ROOM];

	for (unsigned i = 0; i < TEXTS_SEEN; i++)
		texts += ruby_text(
			memory,
			memory_word_at(memory,
				       row->first + (ROW_WORDS - 2 - 2 * i) *
							    sizeof(taddr_t)),
			text);
	return texts > TEXTS_SEEN / 2;
}

static bool use_one(unsigned *left)
{
	if (!*left)
		return false;
	--*left;
	return true;
}

/* left: how many rows may still be looked at. */
static bool are_rows(struct memory *memory, const struct items *rows,
		     unsigned *left)
{
	struct items row;

	if (!rows->count || rows->count > ROWS_MOST)
		return false;
	for (uint64_t i = 0; i < rows->count; i++)
		if (!use_one(left) ||
		    !own_array(memory,
			       memory_word_at(memory,
					      rows->first + i * sizeof(taddr_t)),
			       &row) ||
		    row.count > ROW_WORDS ||
		    (i + 1 < rows->count && row.count != ROW_WORDS))
			return false;
	return own_array(memory, memory_word_at(memory, rows->first), &row) &&
	       row.count == ROW_WORDS && has_texts(memory, &row);
}

void ruby_ids_find(struct memory *memory, const struct blocks *blocks,
		   struct ruby_ids *ret)
{
	struct items rows;
	unsigned left = LOOKS_MOST;

	*ret = (struct ruby_ids){ .memory = memory, .left = NUMBERS_LOOKED_AT };
	for (size_t i = 0; left && i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];

		if (!block->object ||
		    !own_array(memory, block->address, &rows) ||
		    rows.count <= ret->row_count ||
		    !are_rows(memory, &rows, &left))
			continue;
		ret->rows = rows.first;
		ret->row_count = rows.count;
	}
}

bool ruby_ids_name(const struct ruby_ids *ids, uint64_t id,
		   char ret[RUBY_TEXT_ROOM])
{
	const uint64_t number = id >> KIND_BITS;
	const uint64_t at = number % ROW_NAMES * 2;
	struct items row;

	return number / ROW_NAMES < ids->row_count &&
	       own_array(ids->memory,
			 memory_word_at(ids->memory,
					ids->rows + number / ROW_NAMES *
							    sizeof(taddr_t)),
			 &row) &&
	       at < row.count &&
	       ruby_text(ids->memory,
			 memory_word_at(ids->memory,
					row.first + at * sizeof(taddr_t)),
			 ret);
}

static bool find_variable(struct ruby_ids *ids,
			  const struct number_table *table, uint64_t number,
			  char ret[RUBY_TEXT_ROOM])
{
	struct number_entry entry;
	uint32_t its;

	for (uint64_t i = table->begin; i < table->end; i++) {
		if (!use_one(&ids->left) ||
		    memory_read(ids->memory, table->entries + i * sizeof(entry),
				&entry, sizeof(entry)) ||
		    memory_read(ids->memory, entry.number, &its, sizeof(its)))
			return false;
		if (its == number)
			return ruby_ids_name(ids, entry.id, ret) && *ret == '@';
	}
	return false;
}

bool ruby_ids_variable(struct ruby_ids *ids, taddr_t object, uint64_t number,
		       bool within, char ret[RUBY_TEXT_ROOM])
{
	struct memory *memory = ids->memory;
	struct number_table table;
	struct ruby_head head;
	taddr_t numbers;

	if (memory_read(memory, object, &head, sizeof(head)) ||
	    ruby_kind_of(&head) != RUBY_OBJECT)
		return false;
	numbers = within ? memory_word_at(memory,
					  memory_word_at(memory,
							 head.class +
								 CLASS_MORE)) :
			   memory_word_at(memory, object + OBJECT_NUMBERS);
	return numbers && numbers % 8 == 0 &&
	       !memory_read(memory, numbers, &table, sizeof(table)) &&
	       table.begin <= table.end &&
	       table.end - table.begin <= NUMBERS_MOST &&
	       find_variable(ids, &table, number, ret);
}
