/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/types.h"
#include "dwarf/wire.h"

/* No more are shown. */
#define PARAMETERS_MAX 64

/* What is known of a language's calls. */
enum language {
	LANGUAGE_C,       /* C and what passes arguments as it does */
	LANGUAGE_SCALARS, /* numbers and pointers are passed as in C */
	LANGUAGE_OTHER,
};

static enum language language_of(unsigned number)
{
	switch (number) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17, which release 20210528 has no name for */
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_20 */
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus:
		return LANGUAGE_C;
	case DW_LANG_Rust:
		return LANGUAGE_SCALARS;
	}
	return LANGUAGE_OTHER;
}

static bool is_plain_c(unsigned number)
{
	return number == DW_LANG_C || number == DW_LANG_C89 ||
	       number == DW_LANG_C99 || number == DW_LANG_C11 || number == 0x2c;
}

/* Its code begins there, not only a part of it that lies apart (.cold). */
static bool begins_at(const struct unit *unit, const struct die *die,
		      uint64_t address)
{
	size_t count;
	struct die_range *ranges = die_ranges(die, unit->base, &count);
	uint64_t entry = count ? ranges[0].low : 0;

	(void)die_address(die, DW_AT_entry_pc, &entry);
	free(ranges);
	return count && entry == address;
}

/* The compiler says that it changed how the function is called. */
static bool is_called_otherwise(const struct die *die)
{
	uint64_t convention;

	return die_inherited_number(die, DW_AT_calling_convention,
				    &convention) &&
	       convention != DW_CC_normal;
}

/* It stays in memory from the function's first instruction on. */
static bool lies_in_memory(const struct die *die)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute location;
	Dwarf_Unsigned size;
	Dwarf_Ptr bytes;
	bool found;

	if (dwarf_attr(die->handle, DW_AT_location, &location, &error))
		return false;
	found = dwarf_formexprloc(location, &size, &bytes, &error) ==
			DW_DLV_OK &&
		size && *(const uint8_t *)bytes == DW_OP_fbreg;
	dwarf_dealloc(die->dwarf->dbg, location, DW_DLA_ATTR);
	return found;
}

/*
 * Compilers call a function as they please when nobody else can. GCC then
 * gives it another name on x86_64, and passes arguments in registers on i386,
 * where they lie on the stack otherwise. clang leaves out arguments without a
 * word; but then they have no location.
 */
static bool may_be_changed(const struct die *die)
{
	bool found = false;
	struct die child;

	if (die_inherited_flag(die, DW_AT_external))
		return false;
	for_each_child(die, &child)
		found |= die_tag(&child) == DW_TAG_formal_parameter &&
			 (die->dwarf->word_size == 4 ?
				  !lies_in_memory(&child) :
				  !die_has(&child, DW_AT_location));
	return found;
}

/* ---- parameters ---- */

struct debug_parameters {
	struct debug_part list[PARAMETERS_MAX];
	unsigned count;
	bool variadic;
	bool is_method;
};

/*
 * GCC describes what constructors are told of virtual bases, but calls one of
 * two copies that need to be told no such thing.
 */
static bool is_pseudo(const char *name)
{
	return name &&
	       (!strcmp(name, "__in_chrg") || !strcmp(name, "__vtt_parm"));
}

static void add_parameter(struct debug_parameters *parameters,
			  struct types *types, const struct die *die)
{
	const char *name = die_inherited_string(die, DW_AT_name);
	struct debug_part *part;

	if (is_pseudo(name))
		return;
	if (parameters->count == PARAMETERS_MAX) {
		parameters->variadic = true;
		return;
	}
	if (!parameters->count && name && !strcmp(name, "this") &&
	    die_inherited_flag(die, DW_AT_artificial))
		parameters->is_method = true;
	part = &parameters->list[parameters->count++];
	*part = (struct debug_part){ .name = name,
				     .type = types_of(types, die) };
}

static void read_parameters(struct debug_parameters *parameters,
			    struct types *types, const struct die *die)
{
	struct die child;

	for_each_child(die, &child) {
		switch (die_tag(&child)) {
		case DW_TAG_formal_parameter:
			add_parameter(parameters, types, &child);
			break;
		case DW_TAG_unspecified_parameters:
			parameters->variadic = true;
			break;
		}
	}
}

static unsigned count_parameters(const struct die *die)
{
	unsigned count = 0;
	struct die child;

	for_each_child(die, &child)
		count += die_tag(&child) == DW_TAG_formal_parameter &&
			 !is_pseudo(die_inherited_string(&child, DW_AT_name));
	return count;
}

/*
 * A copy of a function that was inlined elsewhere has parameters of its own,
 * but compilers leave out some that they found unused.
 */
static void choose_parameters(struct debug_parameters *parameters,
			      struct types *types, const struct die *die)
{
	struct die origin;

	if (!die_origin(die, &origin)) {
		read_parameters(parameters, types, die);
		return;
	}
	if (count_parameters(die) >= count_parameters(&origin))
		read_parameters(parameters, types, die);
	else
		read_parameters(parameters, types, &origin);
	die_put(&origin);
}

/* Those from the first on that may lie elsewhere than in C are left out. */
static bool keep_scalars(struct debug_parameters *parameters,
			 const struct types *types, uint32_t result)
{
	unsigned i;

	if (!types_is_scalar(types, result))
		return false;
	for (i = 0; i < parameters->count; i++)
		if (!types_is_scalar(types, parameters->list[i].type))
			break;
	parameters->variadic |= i < parameters->count;
	parameters->count = i;
	return true;
}

static int write_function(const struct unit *unit, const struct die *die,
			  struct types *types, struct strbuf *out)
{
	enum language language = language_of(unit->language);
	struct debug_parameters parameters = { .count = 0 };
	bool prototyped = !is_plain_c(unit->language) ||
			  die_inherited_flag(die, DW_AT_prototyped);
	uint32_t result = types_of(types, die);
	unsigned i;

	choose_parameters(&parameters, types, die);
	if (language == LANGUAGE_SCALARS &&
	    !keep_scalars(&parameters, types, result))
		return -ENOENT;
	wire_put_u32(out, result);
	wire_put_u8(out, prototyped);
	wire_put_u8(out, parameters.variadic);
	wire_put_u8(out, parameters.is_method);
	wire_put_u32(out, parameters.count);
	for (i = 0; i < parameters.count; i++)
		types_write_part(out, &parameters.list[i]);
	types_write(types, out);
	return 0;
}

int function_write(struct infofile *file, uint64_t address, struct strbuf *out)
{
	struct unit *unit = infofile_unit(file, address);
	struct types types;
	struct die die;
	int err = -ENOENT;

	if (!unit || language_of(unit->language) == LANGUAGE_OTHER ||
	    !unit_function_from(unit, address, &die))
		return -ENOENT;
	types_init(&types);
	if (begins_at(unit, &die, address) && !is_called_otherwise(&die) &&
	    !may_be_changed(&die))
		err = write_function(unit, &die, &types, out);
	types_fini(&types);
	die_put(&die);
	return err;
}
