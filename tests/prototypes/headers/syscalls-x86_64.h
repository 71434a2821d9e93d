/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of x86_64 that linux/syscalls.h doesn't declare under their
 * names, with where they are defined in Linux 6.1.
 */
#define x86_64_umount2 sys_umount /* arch/x86/entry/syscalls/syscall_64.tbl */
/* arch/x86/kernel/sys_x86_64.c */
long x86_64_mmap(unsigned long addr, unsigned long len, unsigned long prot,
	      unsigned long flags, unsigned long fd, unsigned long off);
/* arch/x86/kernel/process_64.c */
long x86_64_arch_prctl(int option, unsigned long arg2);
/* arch/x86/kernel/signal.c */
long x86_64_rt_sigreturn(void);
/* arch/x86/kernel/ioport.c */
long x86_64_iopl(unsigned int level);
/* arch/x86/kernel/ldt.c */
int x86_64_modify_ldt(int func, void *ptr, unsigned long bytecount);
/* arch/x86/kernel/tls.c; x86_64 has none of them */
int x86_64_set_thread_area(struct user_desc *u_info);
int x86_64_get_thread_area(struct user_desc *u_info);
/* kernel/sys_ni.c, sys_ni_syscall() */
#define x86_64__sysctl sys_ni_syscall
#define x86_64_create_module sys_ni_syscall
#define x86_64_get_kernel_syms sys_ni_syscall
#define x86_64_query_module sys_ni_syscall
#define x86_64_nfsservctl sys_ni_syscall
#define x86_64_getpmsg sys_ni_syscall
#define x86_64_putpmsg sys_ni_syscall
#define x86_64_afs_syscall sys_ni_syscall
#define x86_64_tuxcall sys_ni_syscall
#define x86_64_security sys_ni_syscall
#define x86_64_vserver sys_ni_syscall
#define x86_64_epoll_ctl_old sys_ni_syscall
#define x86_64_epoll_wait_old sys_ni_syscall
/* arch/x86/entry/syscalls/syscall_64.tbl */
#define x86_64_stat sys_newstat
#define x86_64_lstat sys_newlstat
#define x86_64_fstat sys_newfstat
#define x86_64_uname sys_newuname
/* kernel/fork.c */
long x86_64_clone(unsigned long, unsigned long, int *, int *, unsigned long);
/* fs/notify/fanotify/fanotify_user.c */
long x86_64_fanotify_mark(int, unsigned int, u64, int, const char *);
