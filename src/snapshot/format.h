/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SNAPSHOT_FORMAT_H
#define CALLTRAP_SNAPSHOT_FORMAT_H

/* What is where in a snapshot: calltrap.memory(5). */

#define SNAPSHOT_MAGIC      "CTMEMORY"
#define SNAPSHOT_MAGIC_SIZE 8
#define SNAPSHOT_VERSION    7
#define SNAPSHOT_HEAD_SIZE  24
#define SNAPSHOT_ORDER      0x01020304

/* Of each block of the file, the first number. */
enum snapshot_part {
	PART_NAMES = 1,
	PART_PROCESS,
	PART_MAPPINGS,
	PART_ARENAS,
	PART_HEAP,
	PART_SIZES,
	PART_OWNERS,
	PART_BLOCKS,
	PART_PLACES,
	PART_ROOTS,
	PART_POINTERS,
	PART_RINGS,
	PART_THREADS,
	PART_END,
	PARTS,
};

/* Flags of a mapping */
#define MAPPED_READABLE   1
#define MAPPED_WRITABLE   2
#define MAPPED_EXECUTABLE 4
#define MAPPED_SHARED     8

/* … of a process */
#define PROCESS_HEAP   1 /* its blocks are known */
#define PROCESS_COPIED 2
/* … and since version 2 */
#define PROCESS_SWAPPED \
	4 /* before version 4: what is swapped out counts as resident
			   */
#define PROCESS_SURE 8  /* all of what was touched was noticed */
#define PROCESS_HUGE 16 /* since version 4: blocks tell what is huge of them */
#define PROCESS_MOVED \
	32 /* it has mapped or unmapped between stop and figures */

/* … of a heap */
#define HEAP_TOTALS 1
#define HEAP_MUSL   2 /* it is of musl's malloc */

/* … of a block; above its verdict (enum reach) */
#define KEPT_VERDICT 7
#define KEPT_MAPPED  8
#define KEPT_TEXT    16  /* its name is what it begins with */
#define KEPT_BEHIND  32u /* times the bytes at its end that aren't its own */
#define BEHIND_NONE  17u /* … that stands for none */

#endif
