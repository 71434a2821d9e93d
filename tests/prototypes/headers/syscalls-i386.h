/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which function of linux/syscalls.h is behind a system call of i386 that has
 * another name, by arch/x86/entry/syscalls/syscall_32.tbl of Linux 6.1, and
 * those that are declared elsewhere.
 */
#define i386_stat sys_newstat
#define i386_lstat sys_newlstat
#define i386_fstat sys_newfstat
#define i386_oldstat sys_stat
#define i386_oldlstat sys_lstat
#define i386_oldfstat sys_fstat
#define i386_uname sys_newuname
#define i386_olduname sys_uname
#define i386_oldolduname sys_olduname
#define i386_umount sys_oldumount
#define i386_umount2 sys_umount
#define i386_readdir sys_old_readdir
#define i386_select sys_old_select
#define i386__newselect sys_select
#define i386__llseek sys_llseek
#define i386_mmap sys_old_mmap
#define i386_mmap2 sys_mmap_pgoff
#define i386_ugetrlimit sys_getrlimit
#define i386_getrlimit sys_old_getrlimit
#define i386_time sys_time32
#define i386_stime sys_stime32
#define i386_utime sys_utime32
#define i386_utimes sys_utimes_time32
#define i386_futimesat sys_futimesat_time32
#define i386_utimensat sys_utimensat_time32
#define i386_utimensat_time64 sys_utimensat
#define i386_nanosleep sys_nanosleep_time32
#define i386_adjtimex sys_adjtimex_time32
#define i386_clock_gettime sys_clock_gettime32
#define i386_clock_settime sys_clock_settime32
#define i386_clock_getres sys_clock_getres_time32
#define i386_clock_nanosleep sys_clock_nanosleep_time32
#define i386_clock_adjtime sys_clock_adjtime32
#define i386_clock_gettime64 sys_clock_gettime
#define i386_clock_settime64 sys_clock_settime
#define i386_clock_getres_time64 sys_clock_getres
#define i386_clock_nanosleep_time64 sys_clock_nanosleep
#define i386_clock_adjtime64 sys_clock_adjtime
#define i386_timer_settime sys_timer_settime32
#define i386_timer_gettime sys_timer_gettime32
#define i386_timer_settime64 sys_timer_settime
#define i386_timer_gettime64 sys_timer_gettime
#define i386_timerfd_settime sys_timerfd_settime32
#define i386_timerfd_gettime sys_timerfd_gettime32
#define i386_timerfd_settime64 sys_timerfd_settime
#define i386_timerfd_gettime64 sys_timerfd_gettime
#define i386_pselect6 sys_pselect6_time32
#define i386_pselect6_time64 sys_pselect6
#define i386_ppoll sys_ppoll_time32
#define i386_ppoll_time64 sys_ppoll
#define i386_io_getevents sys_io_getevents_time32
#define i386_io_pgetevents sys_io_pgetevents_time32
#define i386_io_pgetevents_time64 sys_io_pgetevents
#define i386_recvmmsg sys_recvmmsg_time32
#define i386_recvmmsg_time64 sys_recvmmsg
#define i386_mq_timedsend sys_mq_timedsend_time32
#define i386_mq_timedsend_time64 sys_mq_timedsend
#define i386_mq_timedreceive sys_mq_timedreceive_time32
#define i386_mq_timedreceive_time64 sys_mq_timedreceive
#define i386_semtimedop sys_semtimedop_time32
#define i386_semtimedop_time64 sys_semtimedop
#define i386_rt_sigtimedwait sys_rt_sigtimedwait_time32
#define i386_rt_sigtimedwait_time64 sys_rt_sigtimedwait
#define i386_futex sys_futex_time32
#define i386_futex_time64 sys_futex
#define i386_sched_rr_get_interval sys_sched_rr_get_interval_time32
#define i386_sched_rr_get_interval_time64 sys_sched_rr_get_interval
#define i386_chown sys_chown16
#define i386_lchown sys_lchown16
#define i386_fchown sys_fchown16
#define i386_chown32 sys_chown
#define i386_lchown32 sys_lchown
#define i386_fchown32 sys_fchown
#define i386_getuid sys_getuid16
#define i386_geteuid sys_geteuid16
#define i386_getgid sys_getgid16
#define i386_getegid sys_getegid16
#define i386_setuid sys_setuid16
#define i386_setgid sys_setgid16
#define i386_setreuid sys_setreuid16
#define i386_setregid sys_setregid16
#define i386_setresuid sys_setresuid16
#define i386_setresgid sys_setresgid16
#define i386_getresuid sys_getresuid16
#define i386_getresgid sys_getresgid16
#define i386_setfsuid sys_setfsuid16
#define i386_setfsgid sys_setfsgid16
#define i386_getgroups sys_getgroups16
#define i386_setgroups sys_setgroups16
#define i386_getuid32 sys_getuid
#define i386_geteuid32 sys_geteuid
#define i386_getgid32 sys_getgid
#define i386_getegid32 sys_getegid
#define i386_setuid32 sys_setuid
#define i386_setgid32 sys_setgid
#define i386_setreuid32 sys_setreuid
#define i386_setregid32 sys_setregid
#define i386_setresuid32 sys_setresuid
#define i386_setresgid32 sys_setresgid
#define i386_getresuid32 sys_getresuid
#define i386_getresgid32 sys_getresgid
#define i386_setfsuid32 sys_setfsuid
#define i386_setfsgid32 sys_setfsgid
#define i386_getgroups32 sys_getgroups
#define i386_setgroups32 sys_setgroups
/* kernel/fork.c, with CONFIG_CLONE_BACKWARDS */
long i386_clone(unsigned long, unsigned long, int *, unsigned long, int *);
/* fs/notify/fanotify/fanotify_user.c, SYSCALL32_DEFINE6 */
long i386_fanotify_mark(int, unsigned int, unsigned int, unsigned int, int,
			const char *);
/* arch/x86/kernel/process_32.c */
long i386_arch_prctl(int option, unsigned long arg2);
/* arch/x86/kernel/signal.c */
long i386_rt_sigreturn(void);
long i386_sigreturn(void);
/* kernel/signal.c, with CONFIG_OLD_SIGSUSPEND3 */
long i386_sigsuspend(int unused1, int unused2, old_sigset_t mask);
/* arch/x86/kernel/ioport.c */
long i386_iopl(unsigned int level);
/* arch/x86/kernel/ldt.c */
int i386_modify_ldt(int func, void *ptr, unsigned long bytecount);
/* arch/x86/kernel/tls.c */
int i386_set_thread_area(struct user_desc *u_info);
int i386_get_thread_area(struct user_desc *u_info);
/* arch/x86/kernel/vm86_32.c */
long i386_vm86old(struct vm86_struct *user_vm86);
long i386_vm86(unsigned long cmd, unsigned long arg);
/* kernel/sys_ni.c, sys_ni_syscall() */
#define i386__sysctl sys_ni_syscall
#define i386_create_module sys_ni_syscall
#define i386_get_kernel_syms sys_ni_syscall
#define i386_query_module sys_ni_syscall
#define i386_nfsservctl sys_ni_syscall
#define i386_getpmsg sys_ni_syscall
#define i386_putpmsg sys_ni_syscall
#define i386_afs_syscall sys_ni_syscall
#define i386_vserver sys_ni_syscall
#define i386_bdflush sys_ni_syscall
#define i386_break sys_ni_syscall
#define i386_ftime sys_ni_syscall
#define i386_gtty sys_ni_syscall
#define i386_idle sys_ni_syscall
#define i386_lock sys_ni_syscall
#define i386_mpx sys_ni_syscall
#define i386_prof sys_ni_syscall
#define i386_profil sys_ni_syscall
#define i386_stty sys_ni_syscall
#define i386_ulimit sys_ni_syscall
