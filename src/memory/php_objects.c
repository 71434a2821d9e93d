/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "memory/php_tables.h"

/* struct _zend_refcounted_h and what begins with it, Zend/zend_types.h; struct
   _zend_class_entry, Zend/zend.h: of PHP 8.2. */
struct php_array {
	struct php_head head;
	uint32_t flags, mask;
	uint64_t data;
	uint32_t used, elements, room, at;
	uint64_t next, destructor;
};

struct php_object {
	struct php_head head;
	uint32_t handle, unused;
	taddr_t class, handlers, properties;
};

struct php_class {
	char type;
	uint8_t unused[7];
	taddr_t name;
};

#define TYPE_OF(head)  ((head)->info & 15)
#define OF_COLLECTOR   0xfffffc00 /* GC_INFO_MASK, Zend/zend_types.h */
#define TYPE_STRING    6
#define TYPE_ARRAY     7
#define TYPE_OBJECT    8
#define TYPE_RESOURCE  9
#define TYPE_REFERENCE 10

#define CLASS_OF_PHP  1
#define CLASS_OF_USER 2

#define REFERENCE_SIZE 32
#define RESOURCE_SIZE  32

#define REFERENCES_MOST (1u << 28)
#define NAME_MOST       200
#define HANDLERS_MOST   10000
#define NO_OFFSET       UINT32_MAX

/* Keys that are no class's address. */
enum {
	KEY_STRING = 1,
	KEY_ARRAY,
	KEY_RESOURCE,
	KEY_REFERENCE,
};

struct php_handlers {
	taddr_t address;
	uint32_t offset;
	UT_hash_handle hh;
};

void php_objects_init(struct php_objects *objects, struct memory *memory)
{
	*objects = (struct php_objects){ .memory = memory };
	object_types_keep(&objects->types, KEY_STRING, "string");
	object_types_keep(&objects->types, KEY_ARRAY, "array");
	object_types_keep(&objects->types, KEY_RESOURCE, "resource");
	object_types_keep(&objects->types, KEY_REFERENCE, "reference");
}

void php_objects_fini(struct php_objects *objects)
{
	struct php_handlers *handlers, *next;

	HASH_ITER(hh, objects->handlers, handlers, next) {
		HASH_DEL(objects->handlers, handlers);
		free(handlers);
	}
	object_types_fini(&objects->types);
}

/* The collector of cycles keeps a number in arrays and objects only. The upper half
   of a pointer that a piece begins with, 0x7f_6, would be a type with one. */
static bool is_collected(const struct php_head *head)
{
	return head->info & OF_COLLECTOR;
}

bool php_is_text(const struct php_string *string)
{
	return TYPE_OF(&string->head) == TYPE_STRING &&
	       !is_collected(&string->head);
}

/* ---- objects ---- */

/* How far in its memory an object lies, behind what is its class's own. */
static bool has_offset(struct php_objects *objects, taddr_t address,
		       uint32_t offset)
{
	struct php_handlers *handlers;
	uint32_t its;

	HASH_FIND(hh, objects->handlers, &address, sizeof(address), handlers);
	if (handlers)
		return handlers->offset == offset;
	if (!address || address % 8)
		return false;
	if (memory_read(objects->memory, address, &its, sizeof(its)))
		its = NO_OFFSET;
	if (HASH_COUNT(objects->handlers) < HANDLERS_MOST) {
		handlers = xcalloc(1, sizeof(*handlers));
		handlers->address = address;
		handlers->offset = its;
		HASH_ADD(hh, objects->handlers, address, sizeof(address),
			 handlers);
	}
	return its == offset;
}

static bool is_name(const char *name)
{
	return *name && printable_has_no_controls(name);
}

/* Names of anonymous classes go on behind a 0. */
static bool read_class(const struct php_objects *objects, taddr_t address,
		       char name[NAME_MOST + 1])
{
	struct php_string string;
	struct php_class class;
	uint64_t length;

	if (!address || address % 8 ||
	    memory_read(objects->memory, address, &class, sizeof(class)) ||
	    (class.type != CLASS_OF_PHP && class.type != CLASS_OF_USER) ||
	    class.name % 8 ||
	    memory_read(objects->memory, class.name, &string, sizeof(string)) ||
	    !php_is_text(&string) || !string.length)
		return false;
	length = string.length < NAME_MOST ? string.length : NAME_MOST;
	if (memory_read(objects->memory, class.name + sizeof(string), name,
			length))
		return false;
	name[length] = 0;
	return is_name(name);
}

static bool is_class(struct php_objects *objects, taddr_t address)
{
	char name[NAME_MOST + 1];

	if (object_types_name(&objects->types, address))
		return address > KEY_REFERENCE;
	if (!read_class(objects, address, name))
		return false;
	object_types_keep(&objects->types, address, name);
	return true;
}

taddr_t php_objects_class(struct php_objects *objects,
			  const struct php_piece *piece, size_t *offset_ret)
{
	const uint64_t seen = piece->seen < PHP_LOOKED_AT ? piece->seen :
							    PHP_LOOKED_AT;
	struct php_object object;

	for (uint32_t at = 0; at + sizeof(object) <= seen; at += 8) {
		memcpy(&object, piece->begin + at, sizeof(object));
		if (TYPE_OF(&object.head) == TYPE_OBJECT &&
		    object.head.references &&
		    object.head.references < REFERENCES_MOST &&
		    has_offset(objects, object.handlers, at) &&
		    is_class(objects, object.class)) {
			*offset_ret = at;
			return object.class;
		}
	}
	return 0;
}

/* ---- others ---- */

static bool is_string(const struct php_objects *objects,
		      const struct php_piece *piece)
{
	struct php_string string;
	uint64_t length;
	char end = 1;

	memcpy(&string, piece->begin, sizeof(string));
	if (string.length >= piece->bytes - sizeof(string))
		return false;
	length = sizeof(string) + string.length;
	if (length < piece->seen)
		return !piece->begin[length];
	return !memory_read(objects->memory, piece->address + length, &end,
			    1) &&
	       !end;
}

static bool is_array(const struct php_piece *piece)
{
	struct php_array array;

	if (piece->bytes != sizeof(array))
		return false;
	memcpy(&array, piece->begin, sizeof(array));
	return php_table_numbers(array.mask) && array.room >= 2 &&
	       !(array.room & (array.room - 1)) && array.used <= array.room &&
	       array.elements <= array.used && array.data &&
	       array.data % 8 == 0;
}

/* Elements have these in front. */
taddr_t php_objects_apart(const struct php_piece *piece)
{
	struct php_array array;

	if (!is_array(piece))
		return 0;
	memcpy(&array, piece->begin, sizeof(array));
	return array.data -
	       (uint64_t)php_table_numbers(array.mask) * sizeof(uint32_t);
}

static uint64_t kind_of(const struct php_objects *objects,
			const struct php_piece *piece)
{
	struct php_head head;

	memcpy(&head, piece->begin, sizeof(head));
	if (!head.references || head.references >= REFERENCES_MOST)
		return 0;
	if (TYPE_OF(&head) == TYPE_ARRAY)
		return is_array(piece) ? KEY_ARRAY : 0;
	if (is_collected(&head))
		return 0;
	switch (TYPE_OF(&head)) {
	case TYPE_STRING:
		return is_string(objects, piece) ? KEY_STRING : 0;
	case TYPE_RESOURCE:
		return piece->bytes == RESOURCE_SIZE ? KEY_RESOURCE : 0;
	case TYPE_REFERENCE:
		return piece->bytes == REFERENCE_SIZE ? KEY_REFERENCE : 0;
	default:
		return 0;
	}
}

const char *php_objects_count(struct php_objects *objects,
			      const struct php_piece *piece)
{
	uint64_t key = 0;
	size_t offset;

	if (piece->bytes <= sizeof(struct php_string))
		return NULL;
	key = php_objects_class(objects, piece, &offset);
	if (!key)
		key = kind_of(objects, piece);
	if (!key)
		return NULL;
	object_types_count(&objects->types, key, piece->bytes);
	return object_types_name(&objects->types, key);
}
