/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Those of i386, whose debug information isn't asked: the same functions as
 * on x86_64, with unsigned int for size_t (Itanium C++ ABI, 5.1.5.2: j).
 */
void *_Znwj(unsigned int);
void *_Znaj(unsigned int);
void *_ZnwjRKSt9nothrow_t(unsigned int, const void *);
void *_ZnajRKSt9nothrow_t(unsigned int, const void *);
void _ZdlPvj(void *, unsigned int);
void _ZdaPvj(void *, unsigned int);
