/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGE_DATA_H
#define CALLTRAP_PAGE_DATA_H

#include <jansson.h>

#include "base/strbuf.h"

/*
 * What page.js reads: one object. What there are thousands of is kept in
 * columns of numbers, and paths and frames in lists, where numbers stand for
 * them. A column is one text: of each number the difference to the one before
 * it, twice that, or, when it is negative, one less than twice its amount; in
 * digits of five bits, the lowest first, each a character of base64; the sixth
 * bit says that another digit follows. (So source maps have theirs, but for the
 * sign.) Most numbers are like the one before, and have one or two characters.
 *
 * Stacks are a tree, as most begin alike: node 0 is the root, each other one
 * comes after its parent.
 */
enum page_column {
	/* Of nodes, from 1 on. */
	PAGE_BACK,  /* so many nodes before it is its parent */
	PAGE_FRAME, /* index of .frames */
	/* Of sites. */
	PAGE_NODE,    /* the last one of its stack */
	PAGE_LIBRARY, /* index of .libraries; -1: not known */
	PAGE_VERDICT, /* enum verdict_level */
	PAGE_HELD_BLOCKS,
	PAGE_HELD_BYTES,
	PAGE_ALL_BLOCKS,
	PAGE_ALL_BYTES,
	PAGE_PEAK_BLOCKS,
	PAGE_PEAK_BYTES,
	PAGE_TEMPORARY_BLOCKS,
	PAGE_TEMPORARY_BYTES,
	PAGE_NS,
	PAGE_CELLS, /* how many of the following are its own */
	/* Of cells: the interval in which blocks were acquired, that in which
	   they went. */
	PAGE_ACQUIRED,
	PAGE_GONE,
	PAGE_BLOCKS,
	PAGE_BYTES,
	PAGE_COLUMNS
};

struct page_texts {
	struct page_text *table;
	json_t *list;
};

struct page_data {
	json_t *root; /* what there is one of */
	struct page_texts libraries, files;
	json_t *frames;
	struct page_node *nodes;
	struct page_column_text {
		struct strbuf text;
		int64_t last;
	} columns[PAGE_COLUMNS];
};

void page_data_init(struct page_data *data);
void page_data_fini(struct page_data *data);

/* The number of a path; -1: there is none (NULL, ""). */
int page_data_path(struct page_texts *paths, const char *path);

/* The next frame; its text is that of its line, or NULL. */
void page_data_add_frame(struct page_data *data, const char *function,
			 int library, int file, uint64_t line,
			 const char *text);

/* Frames, the outermost first; the number of the node that they lead to. */
uint32_t page_data_stack(struct page_data *data, const uint32_t *frames,
			 size_t depth);

/* Of a row, each of its columns is added once. */
void page_data_add(struct page_data *data, enum page_column column,
		   int64_t number);

/* The whole object. */
void page_data_put(struct page_data *data, struct strbuf *out);

#endif
