/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CXX_NAME_H
#define CALLTRAP_CXX_NAME_H

/*
 * Makes a demangled name look as people write it: without the default
 * arguments of the standard library's templates, and without the namespaces
 * that they don't see.
 * std::__cxx11::basic_string<char, std::char_traits<char>,
 * std::allocator<char> > becomes std::string. Other names stay.
 */
void cxx_name_shorten(char *name);

#endif
