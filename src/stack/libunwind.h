/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STACK_LIBUNWIND_H
#define CALLTRAP_STACK_LIBUNWIND_H

#ifdef HAVE_LIBUNWIND_X86_64_H
#include <libunwind-x86_64.h>
#define UNWIND_SP  UNW_X86_64_RSP
#define UNWIND_IP  UNW_X86_64_RIP
#define UNWIND_CFA UNW_X86_64_CFA
#else
#include <libunwind-aarch64.h>
#define UNWIND_SP  UNW_AARCH64_SP
#define UNWIND_IP  UNW_AARCH64_PC
#define UNWIND_CFA UNW_AARCH64_CFA
#endif

/* Not in libunwind's headers, but made for this use. */
extern int UNW_OBJ(dwarf_search_unwind_table)(
	unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table,
	unw_proc_info_t *ret, int need_unwind_info, void *context);

#endif
