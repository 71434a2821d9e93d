/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/screen/player.h"

struct screen {
	struct live_shared *shared;
	int ended;    /* reads an end of file when the other process is gone */
	int messages; /* the former standard error */
	bool is_terminal;
	struct termios modes; /* as it was before */
};

/*
 * Those that end us are for the process that traces: it tells us when it has
 * left. The terminal's stops are for both.
 */
static void settle_signals(void)
{
	static const int usual[] = { SIGTSTP, SIGTTIN,  SIGTTOU, SIGCONT,
				     SIGCHLD, SIGWINCH, SIGSEGV, SIGBUS,
				     SIGILL,  SIGFPE,   SIGABRT, SIGTRAP };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static NO_RETURN void play(const struct screen_options *options,
			   struct live_shared *shared, int messages,
			   pid_t tracer)
{
	settle_signals();
	prctl(PR_SET_NAME, "ctrap-screen");
	player_run(&(struct player_options){
		.shared = shared,
		.messages = messages,
		.tracer = tracer,
		.rows = options->rows,
		.every = options->every,
	});
	_exit(EXIT_SUCCESS);
}

static int new_shared(const struct screen_options *options,
		      struct live_shared **ret)
{
	struct live_shared *shared = mmap(NULL, sizeof(*shared),
					  PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -errno;
	atomic_store(&shared->by, options->by);
	atomic_store(&shared->order, options->order);
	*ret = shared;
	return 0;
}

/* The other process has the ends that this one doesn't. */
static int begin(const struct screen_options *options, struct screen *screen,
		 const int ended[2], const int messages[2])
{
	pid_t own = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		close(ended[0]);
		close(messages[1]);
		play(options, screen->shared, messages[0], own);
	}
	close(ended[1]);
	close(messages[0]);
	screen->ended = ended[0];
	screen->messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(messages[1], STDERR_FILENO);
	close(messages[1]);
	return 0;
}

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int screen_new(const struct screen_options *options, struct screen **ret)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	int ended[2], messages[2];
	int err = new_shared(options, &screen->shared);

	if (!err && pipe2(ended, O_CLOEXEC))
		err = -errno;
	if (err) {
		free(screen);
		return err;
	}
	screen->is_terminal = isatty(STDIN_FILENO) &&
			      !tcgetattr(STDIN_FILENO, &screen->modes);
	err = pipe2(messages, O_CLOEXEC) ? -errno : 0;
	if (!err) {
		err = begin(options, screen, ended, messages);
		if (err)
			close_both(messages);
	}
	if (err) {
		close_both(ended);
		munmap(screen->shared, sizeof(*screen->shared));
		free(screen);
		return err;
	}
	*ret = screen;
	return 0;
}

struct live_shared *screen_shared(const struct screen *screen)
{
	return screen->shared;
}

bool screen_has_ended(const struct screen *screen)
{
	struct pollfd poll_ended = { .fd = screen->ended, .events = POLLIN };

	return atomic_load(&screen->shared->quit) ||
	       poll(&poll_ended, 1, 0) > 0;
}

/* Who had changed it was killed, or has crashed. */
static void restore_terminal(const struct screen *screen)
{
	static const char main_screen[] = "\033[?1049l\033[?25h\033[m\r\n";

	if (!screen->is_terminal || !atomic_load(&screen->shared->raw))
		return;
	signal(SIGTTOU, SIG_IGN);
	tcsetattr(STDIN_FILENO, TCSANOW, &screen->modes);
	if (write(STDOUT_FILENO, main_screen, sizeof(main_screen) - 1) < 0)
		return;
}

/* For a hung terminal nobody waits longer. */
#define PATIENCE (2 * NS_PER_SECOND)

void screen_abandon(struct screen *screen)
{
	struct pollfd poll_ended = { .fd = screen->ended, .events = POLLIN };
	const uint64_t end = clock_now() + PATIENCE;
	int ended;

	dup2(screen->messages, STDERR_FILENO);
	atomic_store(&screen->shared->over, true);
	do
		ended = poll(&poll_ended, 1, 100);
	while (ended <= 0 && clock_now() < end);
	if (ended > 0)
		restore_terminal(screen);
}

void screen_free(struct screen *screen)
{
	char byte;

	if (!screen)
		return;
	dup2(screen->messages, STDERR_FILENO);
	close(screen->messages);
	atomic_store(&screen->shared->over, true);
	while (read(screen->ended, &byte, 1) < 0 && errno == EINTR)
		;
	close(screen->ended);
	restore_terminal(screen);
	munmap(screen->shared, sizeof(*screen->shared));
	free(screen);
}
