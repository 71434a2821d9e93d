/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PICKED_H
#define CALLTRAP_PICKED_H

#include "probe/prober.h"
#include "tracee/module.h"

/*
 * What a sink picks of an image's functions: it is asked for each of thousands, and says
 * the same in each process that maps the image.
 */
struct picked;

struct picked *picked_new(const struct prober_pick *pick) MUST_CHECK;
void picked_free(struct picked *picked);

/* In the order of image_symbols(); good until the next one is asked for. */
const struct symbol *const *picked_of(struct picked *picked,
				      const struct module *module,
				      size_t *count_ret);

#endif
