/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/origin.h"

#include <string.h>

#include "base/file.h"
#include "script/script.h"

static bool begins(const char *symbol, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(symbol, with[i], strlen(with[i])))
			return true;
	return false;
}

/* Such end in a hash: C++ may have a namespace core, too. */
static bool is_of_rust(const char *symbol)
{
	size_t length = strlen(symbol);

	return length > 20 && !strncmp(symbol + length - 20, "17h", 3);
}

bool origin_is_language(const struct frame_name *name)
{
	static const char *const beginnings[] = {
		"_ZNSt",          "_ZNKSt",  "_ZSt",   "_ZN9__gnu_cxx",
		"_ZNK9__gnu_cxx", "__rust_", "__rdl_", "__rg_",
	};
	static const char *const crates[] = { "_ZN5alloc", "_ZN4core",
					      "_ZN3std" };

	return name->linkage &&
	       (begins(name->linkage, beginnings, ARRAY_SIZE(beginnings)) ||
		(is_of_rust(name->linkage) &&
		 begins(name->linkage, crates, ARRAY_SIZE(crates))));
}

const char *origin_soname(const struct code *code)
{
	return code->image ? image_soname(code->image) :
			     file_base_name(code->path);
}

bool origin_is_c_library(const struct frame *frame)
{
	const char *soname = origin_soname(frame->code);

	return soname &&
	       (!strncmp(soname, "libc.", 5) || !strncmp(soname, "ld-", 3));
}

/* Whether a file was installed with the system, and is nobody's own work. */
static bool is_installed(const char *path)
{
	static const char *const folders[] = { "/lib/",    "/lib32/", "/lib64/",
					       "/libx32/", "/usr/",   "/bin/",
					       "/sbin/",   "/snap/" };

	return begins(path, folders, ARRAY_SIZE(folders)) &&
	       strncmp(path, "/usr/local/", strlen("/usr/local/")) != 0;
}

bool origin_is_own(const struct frame *frame)
{
	const char *path = frame->code->path;

	if (frame->method == FRAME_SCRIPT)
		return !script_is_library(path);
	return *path == '/' && !is_installed(path);
}
