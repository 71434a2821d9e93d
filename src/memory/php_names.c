/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "memory/php_objects.h"

#define TEXT_MOST 64

/* struct _Bucket: a value is 16 bytes. */
struct php_bucket {
	uint64_t value, type, hash;
	taddr_t key;
};

/* struct _zend_class_entry of PHP 8.2: what its objects have, by place. */
#define CLASS_COUNT      32
#define CLASS_PROPERTIES 248
#define PROPERTY_NAME    8

#define VALUE_SIZE 16

struct php_names {
	struct memory *memory;
	struct php_objects objects;
	char name[TEXT_MOST + 8];
};

struct php_names *php_names_new(struct memory *memory)
{
	struct php_names *names = xcalloc(1, sizeof(*names));

	names->memory = memory;
	php_objects_init(&names->objects, memory);
	return names;
}

void php_names_free(struct php_names *names)
{
	if (!names)
		return;
	php_objects_fini(&names->objects);
	free(names);
}

static size_t read_begin(const struct php_names *names,
			 const struct block *block, uint8_t ret[PHP_LOOKED_AT])
{
	const uint64_t usable = block_usable(block);
	const size_t size = usable < PHP_LOOKED_AT ? usable : PHP_LOOKED_AT;

	return memory_read(names->memory, block->address, ret, size) ? 0 : size;
}

const char *php_names_class(struct php_names *names, const struct block *block)
{
	uint8_t begin[PHP_LOOKED_AT];
	const size_t seen = read_begin(names, block, begin);

	return seen ? php_objects_count(&names->objects,
					&(struct php_piece){
						block->address,
						block_usable(block), begin,
						seen }) :
		      NULL;
}

/* Names of properties that others may not have begin with the class's, between
   zeros. */
static bool read_text(const struct php_names *names, taddr_t string,
		      const char *around, char ret[TEXT_MOST + 8])
{
	struct php_string head;
	char text[TEXT_MOST + 1];
	const char *own = text;
	size_t length;

	if (!string || string % 8 ||
	    memory_read(names->memory, string, &head, sizeof(head)) ||
	    !php_is_text(&head) || !head.length)
		return false;
	length = head.length < TEXT_MOST ? head.length : TEXT_MOST;
	if (memory_read(names->memory, string + sizeof(head), text, length))
		return false;
	text[length] = 0;
	if (!*text && memchr(text + 1, 0, length - 1))
		own = strchr(text + 1, 0) + 1;
	if (!printable_is_ascii(own))
		return false;
	snprintf(ret, TEXT_MOST + 8, around, own);
	return *own;
}

/* Where values have no keys, what is there says something else. */
const char *php_names_key(struct php_names *names, taddr_t where)
{
	struct php_bucket bucket;
	struct php_string key;

	if (memory_read(names->memory, where, &bucket, sizeof(bucket)) ||
	    !bucket.key || bucket.key % 8 ||
	    memory_read(names->memory, bucket.key, &key, sizeof(key)) ||
	    key.hash != bucket.hash ||
	    !read_text(names, bucket.key, "['%s']", names->name))
		return NULL;
	return names->name;
}

const char *php_names_property(struct php_names *names,
			       const struct block *object, taddr_t where)
{
	uint8_t begin[PHP_LOOKED_AT];
	taddr_t class, properties;
	uint64_t place;
	size_t at = 0, seen = read_begin(names, object, begin);

	class = seen ? php_objects_class(&names->objects,
					 &(struct php_piece){
						 object->address,
						 block_usable(object), begin,
						 seen },
					 &at) :
		       0;
	place = where - object->address - at - PHP_OBJECT_HEAD;
	if (!class || place % VALUE_SIZE ||
	    place / VALUE_SIZE >= (uint32_t)memory_word_at(names->memory,
							   class + CLASS_COUNT))
		return NULL;
	properties = memory_word_at(names->memory, class + CLASS_PROPERTIES);
	properties = memory_word_at(names->memory,
				    properties + place / VALUE_SIZE *
							 sizeof(properties));
	return properties && read_text(names,
				       memory_word_at(names->memory,
						      properties +
							      PROPERTY_NAME),
				       ".%s", names->name) ?
		       names->name :
		       NULL;
}
