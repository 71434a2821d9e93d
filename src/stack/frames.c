/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "stack/private.h"

struct known_address {
	uint64_t address;
	struct unwind_row *row; /* or NULL */
	const struct cfi *cfi;  /* that it is from */
	UT_hash_handle hh;
};

struct known_image {
	struct image *image;
	struct cfi *cfi;       /* or NULL */
	struct cfi *cfi_debug; /* looked for when the other one has nothing */
	bool debug_looked_for;
	struct known_address *addresses;
	UT_hash_handle hh;
};

static struct known_image *find_image(struct unwinder *unwinder,
				      struct image *image)
{
	struct known_image *known;

	HASH_FIND_PTR(unwinder->images, &image, known);
	if (known)
		return known;
	known = xcalloc(1, sizeof(*known));
	known->image = image_get(image);
	known->cfi = cfi_new(image);
	HASH_ADD_PTR(unwinder->images, image, known);
	return known;
}

static void learn_from(struct unwinder *unwinder, struct image *image,
		       const struct cfi *cfi, struct known_address *ret)
{
	ret->cfi = cfi;
	if (cfi)
		ret->row = learner_row(unwinder->learner, image, cfi,
				       ret->address);
}

static void learn(struct unwinder *unwinder, struct known_image *known,
		  struct known_address *ret)
{
	learn_from(unwinder, known->image, known->cfi, ret);
	if (!ret->row && !known->debug_looked_for) {
		known->debug_looked_for = true;
		known->cfi_debug = cfi_new_debug(known->image);
	}
	if (!ret->row)
		learn_from(unwinder, known->image, known->cfi_debug, ret);
}

static struct known_address *find_address(struct unwinder *unwinder,
					  struct image *image, uint64_t address)
{
	struct known_image *known = find_image(unwinder, image);
	struct known_address *found;

	HASH_FIND(hh, known->addresses, &address, sizeof(address), found);
	if (!found) {
		found = xcalloc(1, sizeof(*found));
		found->address = address;
		learn(unwinder, known, found);
		HASH_ADD(hh, known->addresses, address, sizeof(address), found);
	}
	return found;
}

const struct unwind_row *known_row(struct unwinder *unwinder,
				   struct image *image, uint64_t address)
{
	return find_address(unwinder, image, address)->row;
}

bool known_step(struct unwinder *unwinder, struct image *image,
		uint64_t address, struct frame_state *frame)
{
	const struct known_address *known =
		find_address(unwinder, image, address);

	return known->cfi && learner_step(unwinder->learner, image, known->cfi,
					  address, frame);
}

static void free_image(struct known_image *known)
{
	struct known_address *address, *next;

	HASH_ITER(hh, known->addresses, address, next) {
		HASH_DEL(known->addresses, address);
		free(address->row);
		free(address);
	}
	cfi_free(known->cfi);
	cfi_free(known->cfi_debug);
	image_put(known->image);
	free(known);
}

void known_images_free(struct known_image *images)
{
	struct known_image *known, *next;

	HASH_ITER(hh, images, known, next) {
		HASH_DEL(images, known);
		free_image(known);
	}
}
