/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SOURCE_NAME_H
#define CALLTRAP_SOURCE_NAME_H

#include <stdbool.h>

#include "base/demangle.h"
#include "filter/pattern.h"

/*
 * A symbol pattern with "::" or a blank in it is meant for names as C++ and Rust sources
 * have them: no symbol has such a name itself. Zeroed: it is none of these.
 */
struct source_name {
	bool is_one;
	bool with_parameters; /* it speaks of them, else of the name alone */
	char *word;           /* what symbols of such names contain, or NULL */
	struct demangler *demangler;
};

/* Takes a "::" in front away from the pattern, if it is not a regex. */
void source_name_init(struct source_name *source, struct pattern *pattern);
void source_name_fini(struct source_name *source);

/* Whether the pattern matches the name that the symbol stands for. */
bool source_name_matches(const struct source_name *source,
			 const struct pattern *pattern, const char *symbol);

#endif
