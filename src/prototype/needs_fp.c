/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/flatten.h"
#include "prototype/signature.h"

static bool needs_fp(const struct type *type, const struct arch_ops *arch,
		     bool as_result)
{
	struct flattened flat;

	if (type->kind == TYPE_VOID)
		return false;
	flatten(type, arch->word_size, &flat);
	return arch->convention->needs_fp(&flat.value, as_result);
}

/* What a format will call for isn't known before. */
static bool may_need_fp(const struct type *type, const struct arch_ops *arch)
{
	static const struct type real = { .kind = TYPE_FLOAT, .size = 8 };

	return needs_fp(type->lens == LENS_FORMAT ? &real : type, arch, false);
}

bool prototype_needs_fp_arguments(const struct prototype *prototype,
				  const struct arch_ops *arch)
{
	for (unsigned i = 0; prototype && i < prototype->count; i++)
		if (may_need_fp(prototype->parameters[i].type, arch))
			return true;
	return false;
}

bool prototype_needs_fp_result(const struct prototype *prototype,
			       const struct arch_ops *arch)
{
	return prototype && needs_fp(prototype->result, arch, true);
}
