/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/fault_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cursor.h"

#define PAGE 4096

/*
 * Without privileges all rings together may take perf_event_mlock_kb for each
 * processor, and RLIMIT_MEMLOCK: small ones will do, but stop the task more
 * often.
 */
#define RING_MIN     (8 * PAGE)
#define RING_MAX     (256 * PAGE)
#define UNPRIVILEGED 16 /* … are so many times smaller */

static int open_event(struct perf_event_attr *attr, pid_t tid)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static struct perf_event_attr page_faults(uint64_t period, bool in_kernel)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = period,
		.exclude_kernel = !in_kernel,
		.exclude_hv = 1,
	};
}

static int open_samples(struct fault_events *events, pid_t tid)
{
	struct perf_event_attr attr = page_faults(1, true);

	attr.disabled = 1;
	events->in_kernel = true;
	fault_sample_ask(&attr);
	events->samples = open_event(&attr, tid);
	if (events->samples != -EACCES && events->samples != -EPERM)
		return events->samples;
	/* kernel.perf_event_paranoid is above 1, for most users it is. */
	events->in_kernel = false;
	attr.exclude_kernel = 1;
	events->samples = open_event(&attr, tid);
	return events->samples;
}

static int map_ring(struct fault_events *events, size_t room)
{
	size_t size = events->in_kernel ? room : room / UNPRIVILEGED;
	void *page = MAP_FAILED;

	if (size < RING_MIN)
		size = RING_MIN;
	if (size > RING_MAX)
		size = RING_MAX;
	for (; size >= RING_MIN; size /= 2) {
		page = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, events->samples, 0);
		if (page != MAP_FAILED || errno != EPERM)
			break;
	}
	if (page == MAP_FAILED)
		return errno == EPERM ? -ENOBUFS : -errno;
	events->ring_page = page;
	events->ring_bytes = PAGE + size;
	events->ring.bytes = (const uint8_t *)page + PAGE;
	events->ring.size = size;
	return 0;
}

/* Sends a signal to a task when the event's period is over. */
static int send_signals(int fd, pid_t tid, int signal)
{
	const struct f_owner_ex owner = { F_OWNER_TID, tid };

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, signal) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC))
		return -errno;
	return 0;
}

/*
 * An event with O_ASYNC sends a signal at each sample, not when its ring gets
 * full. So there is a second one, with fewer samples, which go nowhere. More
 * than one fault must be allowed between them: where a fault has to wait, a
 * signal makes the kernel leave it, to be taken again.
 */
static int open_signals(struct fault_events *events, pid_t tid)
{
	struct perf_event_attr attr;
	int err;

	events->period = events->ring.size / 2 / FAULT_SAMPLE_MAX;
	if (events->period < 2)
		events->period = 2;
	attr = page_faults(events->period, false);
	events->metronome = open_event(&attr, tid);
	err = send_signals(events->metronome, tid, FAULT_SIGNAL);
	if (err || !events->in_kernel)
		return err;
	attr = page_faults(events->period, true);
	attr.exclude_user = 1;
	events->waker = open_event(&attr, tid);
	return send_signals(events->waker, gettid(), SIGALRM);
}

int fault_events_open(struct fault_events *events, pid_t tid, size_t room,
		      uint8_t *unwrapped)
{
	int err;

	*events = fault_events_none();
	events->ring.unwrapped = unwrapped;
	err = open_samples(events, tid);
	if (err >= 0)
		err = map_ring(events, room);
	if (!err)
		err = open_signals(events, tid);
	/* The task runs, and would make faults that have no ring yet. */
	if (!err && ioctl(events->samples, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err)
		fault_events_close(events);
	return err;
}

static void close_event(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void fault_events_close(struct fault_events *events)
{
	close_event(&events->waker);
	close_event(&events->metronome);
	if (events->ring_page)
		munmap(events->ring_page, events->ring_bytes);
	events->ring_page = NULL;
	close_event(&events->samples);
}

void fault_events_signal(struct fault_events *events, pid_t tid)
{
	if (events->metronome >= 0)
		(void)send_signals(events->metronome, tid ? tid : gettid(),
				   tid ? FAULT_SIGNAL : SIGALRM);
}

static void disable(int fd)
{
	if (fd >= 0)
		(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

void fault_events_stop(struct fault_events *events)
{
	/* In this order: no sample comes while no signal does. */
	disable(events->samples);
	disable(events->waker);
	disable(events->metronome);
}

bool fault_events_is_signal(const struct fault_events *events,
			    const siginfo_t *info)
{
	/* A number above 0: no program can send that to another one. */
	return info->si_signo == FAULT_SIGNAL && info->si_code == POLL_IN &&
	       info->si_fd == events->metronome;
}

/* PERF_RECORD_LOST: an id, and how many. */
static uint64_t parse_lost(const struct perf_record *record)
{
	struct cursor c = cursor_of(record->body, record->size);

	cursor_skip(&c, 8);
	return cursor_u64(&c);
}

static bool take(struct fault_events *events, const struct perf_record *record,
		 struct fault_sample *ret)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (fault_sample_parse(record, ret)) {
			events->sampled++;
			return true;
		}
		events->unreadable++;
		break;
	case PERF_RECORD_LOST:
		events->told_lost += parse_lost(record);
		break;
	case PERF_RECORD_THROTTLE:
		events->throttled++;
		break;
	default:
		break;
	}
	return false;
}

/* See the comment at struct perf_event_mmap_page, linux/perf_event.h. */
bool fault_events_next(struct fault_events *events, struct fault_sample *ret)
{
	struct perf_event_mmap_page *page = events->ring_page;
	struct perf_record record;
	bool found = false;

	if (!page)
		return false;
	/* The kernel may write over the one before by now: it is done with. */
	__atomic_store_n(&page->data_tail, events->ring.tail, __ATOMIC_RELEASE);
	events->ring.head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	while (!found && perf_ring_next(&events->ring, &record))
		found = take(events, &record, ret);
	if (!found)
		__atomic_store_n(&page->data_tail, events->ring.tail,
				 __ATOMIC_RELEASE);
	return found;
}

uint64_t fault_events_count(const struct fault_events *events)
{
	uint64_t count;

	return read(events->samples, &count, sizeof(count)) == sizeof(count) ?
		       count :
		       events->sampled;
}
