/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/type.h"

#include <string.h>

#define INTEGER(bytes, has_sign, how)                                 \
	{                                                             \
		.kind = TYPE_INTEGER, .size = (bytes), .lens = (how), \
		.is_signed = (has_sign)                               \
	}
#define SIGNED(bytes)   INTEGER(bytes, true, LENS_PLAIN)
#define UNSIGNED(bytes) INTEGER(bytes, false, LENS_PLAIN)
#define REAL(what, bytes)                       \
	{                                       \
		.kind = (what), .size = (bytes) \
	}

static const struct type void_type = { .kind = TYPE_VOID };
static const struct type char_type = INTEGER(1, true, LENS_CHAR);
static const struct expression up_to_zero = { .kind = EXPRESSION_ZERO };
static const struct type text_type = {
	.kind = TYPE_ARRAY,
	.target = &char_type,
	.length = &up_to_zero,
	.depth = 1,
};

static const struct type address_type = {
	.kind = TYPE_POINTER,
	.target = &void_type,
	.depth = 1,
};
static const struct type string_type = {
	.kind = TYPE_POINTER,
	.target = &text_type,
	.lens = LENS_STRING,
	.depth = 2,
};
static const struct type format_type = {
	.kind = TYPE_POINTER,
	.target = &text_type,
	.lens = LENS_FORMAT,
	.depth = 2,
};
static const struct type maybe_text_type = {
	.kind = TYPE_POINTER,
	.target = &char_type,
	.lens = LENS_MAYBE_TEXT,
	.depth = 1,
};

static const struct type guess_text_type = {
	.kind = TYPE_POINTER,
	.target = &char_type,
	.lens = LENS_GUESS_TEXT,
	.depth = 1,
};

static const struct {
	const char *name;
	struct type type;
} builtins[] = {
	{ "char", INTEGER(1, true, LENS_CHAR) },
	{ "schar", SIGNED(1) },
	{ "uchar", UNSIGNED(1) },
	{ "short", SIGNED(2) },
	{ "ushort", UNSIGNED(2) },
	{ "int", SIGNED(4) },
	{ "uint", UNSIGNED(4) },
	{ "long", SIGNED(TYPE_WORD) },
	{ "ulong", UNSIGNED(TYPE_WORD) },
	{ "llong", SIGNED(8) },
	{ "ullong", UNSIGNED(8) },
	{ "int8", SIGNED(1) },
	{ "uint8", UNSIGNED(1) },
	{ "int16", SIGNED(2) },
	{ "uint16", UNSIGNED(2) },
	{ "int32", SIGNED(4) },
	{ "uint32", UNSIGNED(4) },
	{ "int64", SIGNED(8) },
	{ "uint64", UNSIGNED(8) },
	{ "bool", INTEGER(1, false, LENS_BOOL) },
	{ "hex", INTEGER(4, false, LENS_HEX) },
	{ "oct", INTEGER(4, false, LENS_OCTAL) },
	{ "octal", INTEGER(4, false, LENS_OCTAL) },
	{ "bitvec", INTEGER(4, false, LENS_BITS) },
	{ "hide", INTEGER(4, true, LENS_HIDE) },
	{ "bin", INTEGER(4, false, LENS_BINARY) },
	{ "errname", INTEGER(4, true, LENS_ERRNAME) },
	{ "int128", SIGNED(16) },
	{ "uint128", UNSIGNED(16) },
	{ "float", REAL(TYPE_FLOAT, 4) },
	{ "double", REAL(TYPE_FLOAT, 8) },
	{ "ldouble", REAL(TYPE_FLOAT, TYPE_EXTENDED) },
	{ "cfloat", REAL(TYPE_COMPLEX, 4) },
	{ "cdouble", REAL(TYPE_COMPLEX, 8) },
	{ "cldouble", REAL(TYPE_COMPLEX, TYPE_EXTENDED) },
};

const struct type type_guess = INTEGER(TYPE_WORD, true, LENS_GUESS);

static const struct {
	const char *name;
	const struct type *type;
} builtin_pointers[] = {
	{ "void", &void_type },
	{ "addr", &address_type },
	{ "file", &address_type },
	{ "string", &string_type },
	{ "format", &format_type },
	{ "guess", &type_guess },
	{ "maybe_string", &maybe_text_type },
	{ "guess_string", &guess_text_type },
};

static bool same(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && memcmp(name, text, length) == 0;
}

const struct type *type_builtin(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (same(builtins[i].name, name, length))
			return &builtins[i].type;
	for (size_t i = 0; i < ARRAY_SIZE(builtin_pointers); i++)
		if (same(builtin_pointers[i].name, name, length))
			return builtin_pointers[i].type;
	return NULL;
}

bool type_is_complete(const struct type *type)
{
	return (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION) ||
	       type->complete;
}
