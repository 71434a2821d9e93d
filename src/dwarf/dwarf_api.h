/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_API_H
#define CALLTRAP_DWARF_API_H

/*
 * libdwarf, whose functions changed after release 20210528: configure finds
 * out which form is there.
 */
#if defined(HAVE_LIBDWARF_LIBDWARF_H)
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#elif defined(HAVE_LIBDWARF_0_LIBDWARF_H)
#include <libdwarf-0/dwarf.h>
#include <libdwarf-0/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A

#define OBJECT_MEMBER(name) ai_##name
#define METHOD(name)        om_##name
#define SECTION(name)       as_##name
typedef Dwarf_Obj_Access_Interface_a dwarf_object_interface;
typedef Dwarf_Obj_Access_Methods_a dwarf_object_methods;
typedef Dwarf_Obj_Access_Section_a dwarf_object_section;
typedef Dwarf_Unsigned dwarf_section_index;
typedef Dwarf_Small dwarf_byte_order;
#define BYTE_ORDER_LITTLE DW_END_little

#else

#define OBJECT_MEMBER(name) name
#define METHOD(name)        name
#define SECTION(name)       name
typedef Dwarf_Obj_Access_Interface dwarf_object_interface;
typedef Dwarf_Obj_Access_Methods dwarf_object_methods;
typedef Dwarf_Obj_Access_Section dwarf_object_section;
typedef Dwarf_Half dwarf_section_index;
typedef Dwarf_Endianness dwarf_byte_order;
#define BYTE_ORDER_LITTLE   DW_OBJECT_LSB

#endif

#ifdef HAVE_DWARF_FINISH_OF_ONE
#define dwarf_end(dbg) ((void)dwarf_object_finish(dbg))
#define dwarf_ranges_free(dbg, ranges, count) \
	dwarf_dealloc_ranges(dbg, ranges, count)
#else
#define dwarf_end(dbg) ((void)dwarf_object_finish(dbg, NULL))
#define dwarf_ranges_free(dbg, ranges, count) \
	dwarf_ranges_dealloc(dbg, ranges, count)
#endif

#endif
