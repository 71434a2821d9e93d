/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/flatten.h"
#include "prototype/signature.h"

/*
 * Asked at every call: almost always a glance at the types answers, which is
 * why the answers aren't kept.
 */
static bool needs_fp(const struct type *type, const struct arch_ops *arch,
		     bool as_result)
{
	struct flattened flat;

	if (type->kind == TYPE_VOID || type->kind == TYPE_INTEGER ||
	    type->kind == TYPE_POINTER)
		return false;
	flatten(type, arch->word_size, &flat);
	return arch->convention->needs_fp(&flat.value, as_result);
}

bool prototype_needs_fp_arguments(const struct prototype *prototype,
				  const struct arch_ops *arch,
				  const struct regs *entry)
{
	for (unsigned i = 0; prototype && i < prototype->count; i++) {
		const struct type *type = prototype->parameters[i].type;

		if (type->lens == LENS_FORMAT ?
			    arch->convention->variadic_needs_fp(entry) :
			    needs_fp(type, arch, false))
			return true;
	}
	return false;
}

bool prototype_needs_fp_result(const struct prototype *prototype,
			       const struct arch_ops *arch)
{
	return prototype && needs_fp(prototype->result, arch, true);
}
