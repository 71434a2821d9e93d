/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/layout.h"
#include "prototype/printer.h"

/* More bytes are not looked through for bits. */
#define BITS_BYTES_MAX 1024

static uint64_t element_size(const struct printer *printer,
			     const struct type *type)
{
	return layout_of(type->target, print_word_size(printer)).size;
}

static void print_elements(struct printer *printer, const struct type *type,
			   struct place place, uint64_t count)
{
	uint64_t size = element_size(printer, type);
	uint64_t most = printer->limits->array_elements;

	print_ops(printer)->begin(printer->writer, GROUP_ARRAY);
	for (uint64_t i = 0; i < count; i++) {
		if (i == most || !printer->left) {
			print_ops(printer)->cut(printer->writer);
			break;
		}
		print_value(printer, type->target,
			    place_behind(place, i * size));
	}
	print_ops(printer)->end(printer->writer, GROUP_ARRAY);
}

/* Whether all its bytes are; so it is when it can't be read. */
static bool is_zero(struct place place, uint64_t size)
{
	char bytes[256];

	for (uint64_t done = 0; done < size;) {
		size_t n = size - done < sizeof(bytes) ? size - done :
							 sizeof(bytes);

		if (memory_read(place.memory, place.address + done, bytes, n))
			return true;
		for (size_t i = 0; i < n; i++)
			if (bytes[i])
				return false;
		done += n;
	}
	return true;
}

/* How many elements there are before one that is all zeros. */
static uint64_t count_to_zero(struct printer *printer, const struct type *type,
			      struct place place, uint64_t most)
{
	uint64_t size = element_size(printer, type);
	uint64_t count = 0;

	/* One more than is shown is enough to know that there are more. */
	if (most > (uint64_t)printer->limits->array_elements + 1)
		most = (uint64_t)printer->limits->array_elements + 1;
	if (most > printer->left)
		most = printer->left;
	while (count < most &&
	       !is_zero(place_behind(place, count * size), size))
		count++;
	return count;
}

static bool is_text(const struct type *type)
{
	uint8_t size = type->target->size;

	return (type->lens == LENS_STRING || type->lens == LENS_BYTES ||
		type->lens == LENS_FORMAT || type->lens == LENS_SCAN) &&
	       type->target->kind == TYPE_INTEGER &&
	       (size == 1 || size == 2 || size == 4);
}

static void print_counted(struct printer *printer, const struct type *type,
			  struct place place, uint64_t count)
{
	if (type->lens == LENS_BITS && type->length->kind != EXPRESSION_ZERO) {
		uint64_t size = element_size(printer, type);

		print_bits(printer, place,
			   count > BITS_BYTES_MAX / size ? BITS_BYTES_MAX :
							   count * size);
		return;
	}
	if (count && !place_is_readable(place)) {
		print_ops(printer)->unreadable(printer->writer, place.address);
		return;
	}
	if (type->length->kind == EXPRESSION_ZERO)
		count = count_to_zero(printer, type, place, count);
	print_elements(printer, type, place, count);
}

void print_array(struct printer *printer, const struct type *type,
		 struct place place)
{
	uint64_t count;

	if (!type->length || !element_size(printer, type) ||
	    print_count(printer, type->length, &count)) {
		print_ops(printer)->address(printer->writer, place.address);
	} else if (type->lens == LENS_SOCKADDR) {
		print_socket_address(printer, place, count);
	} else if (is_text(type)) {
		struct text text = { place, count, type->target->size,
				     type->lens == LENS_BYTES,
				     type->addressed };

		print_text(printer, &text);
	} else {
		print_counted(printer, type, place, count);
	}
}
