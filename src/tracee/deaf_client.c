/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/deaf_client.h"

static void ignore_space(struct tracer_client *client UNUSED,
			 struct space *space UNUSED)
{
}

static void ignore_module(struct tracer_client *client UNUSED,
			  struct space *space UNUSED,
			  struct module *module UNUSED)
{
}

static void ignore_task(struct tracer_client *client UNUSED,
			struct task *task UNUSED)
{
}

static void ignore_signal(struct tracer_client *client UNUSED,
			  struct task *task UNUSED, int signal UNUSED)
{
}

static void ignore_fork(struct tracer_client *client UNUSED,
			struct task *parent UNUSED, struct tracee *child UNUSED)
{
}

static void ignore_succession(struct tracer_client *client UNUSED,
			      struct task *former UNUSED,
			      struct task *leader UNUSED)
{
}

static void ignore_entry(struct tracer_client *client UNUSED,
			 struct task *task UNUSED,
			 const struct syscall_stop *stop UNUSED)
{
}

static void ignore_return(struct tracer_client *client UNUSED,
			  struct task *task UNUSED,
			  const struct syscall_stop *stop UNUSED,
			  bool again UNUSED)
{
}

static void ignore_end(struct tracer_client *client UNUSED,
		       struct tracee *tracee UNUSED, int wait_status UNUSED)
{
}

static void ignore_tracee(struct tracer_client *client UNUSED,
			  struct tracee *tracee UNUSED)
{
}

const struct tracer_client_ops deaf_client_ops = {
	.space_begin = ignore_space,
	.space_end = ignore_space,
	.module_mapped = ignore_module,
	.module_unmapped = ignore_module,
	.modules_consistent = ignore_space,
	.space_relocated = ignore_space,
	.task_begin = ignore_task,
	.task_end = ignore_task,
	.signal = ignore_signal,
	.fork = ignore_fork,
	.succeed = ignore_succession,
	.exec = ignore_task,
	.syscall_entered = ignore_entry,
	.syscall_returned = ignore_return,
	.tracee_end = ignore_end,
	.leave = ignore_tracee,
};
