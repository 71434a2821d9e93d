/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the C library exports, but doesn't declare in its headers, or declares
 * in newer versions only; with where the declarations come from. Those that
 * its debug information (libc6-dbg) describes are compared with that as well.
 */
#include "libc.h"

/* pivot_root(2), arch_prctl(2), capget(2): "no wrapper is declared" */
int pivot_root(const char *, const char *);
int arch_prctl(int, unsigned long);
int capget(void *, void *);
int capset(void *, const void *);
/* The same as the functions without underscores, in string/, socket/, io/
   and posix/ of the GNU C library: weak_alias() */
int __socket(int, int, int);
int __dup2(int, int);
pid_t __getpid(void);
void *__rawmemchr(const void *, int);
char *__strchrnul(const char *, int);
int __strcasecmp(const char *, const char *);
int __pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
/* libio/getc.c, libio/putc.c */
int _IO_getc(FILE *);
int _IO_putc(int, FILE *);
/* Linux Standard Base Core 5.0, "Interfaces for libc", and the aliases in
   wcsmbs/bits/wchar2.h, libio/bits/stdio2.h */
wchar_t *__wmemset_chk(wchar_t *, wchar_t, size_t, size_t);
char *__fgets_chk(char *, size_t, int, FILE *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
/* stdlib.h, inttypes.h, stdio.h of version 2.38: what programs call for
   strtol() and so on */
long __isoc23_strtol(const char *, char **, int);
unsigned long __isoc23_strtoul(const char *, char **, int);
long long __isoc23_strtoll(const char *, char **, int);
unsigned long long __isoc23_strtoull(const char *, char **, int);
intmax_t __isoc23_strtoimax(const char *, char **, int);
uintmax_t __isoc23_strtoumax(const char *, char **, int);
int __isoc23_scanf(const char *, ...);
int __isoc23_fscanf(FILE *, const char *, ...);
int __isoc23_sscanf(const char *, const char *, ...);
int __isoc23_vscanf(const char *, __builtin_va_list);
int __isoc23_vfscanf(FILE *, const char *, __builtin_va_list);
int __isoc23_vsscanf(const char *, const char *, __builtin_va_list);
/* string.h of version 2.38 */
size_t strlcpy(char *, const char *, size_t);
size_t strlcat(char *, const char *, size_t);
/* "ELF Handling For Thread-Local Storage", 3.4.2 and 3.4.6; the one with three
   underscores has its argument in a register, on i386 only */
struct tls_index_of_elf { unsigned long ti_module, ti_offset; };
void *__tls_get_addr(struct tls_index_of_elf *);
#ifdef __i386__
void *___tls_get_addr(void);
#endif
