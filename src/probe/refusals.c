/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "probe/private.h"

/* Functions that were wanted, and can't be caught: the first of them, and why. */

static const char *reason(int err)
{
	switch (err) {
	case -EEXIST:
		return "another tool has an int3 there (a debugger, or a "
		       "uprobe of perf or bpftrace)";
	case -EILSEQ:
		return "there is no instruction";
	case -EOPNOTSUPP:
		return "its first instruction can't be run elsewhere";
	case -EDQUOT:
		return "its cgroup has no memory for a copy of the page";
	default:
		return strerror(-err);
	}
}

void refusal_note(struct prober *prober, const struct function *function,
		  int err)
{
	struct refusal *refusal = prober->refusals;

	prober->counts.failed_probes++;
	for (; refusal < prober->refusals + REFUSALS; refusal++) {
		if (refusal->function == function)
			return;
		if (refusal->function)
			continue;
		*refusal = (struct refusal){ function, err };
		return;
	}
}

bool prober_tell_refused(const struct prober *prober, uint64_t unnamed,
			 struct strbuf *out)
{
	const uint64_t count = prober->counts.failed_probes + unnamed;

	if (!count)
		return false;
	strbuf_printf(out,
		      "%" PRIu64 " function%s could not be trapped (-D "
		      "probe names %s)",
		      count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
	for (size_t i = 0; i < REFUSALS && prober->refusals[i].function; i++) {
		const struct refusal *refusal = &prober->refusals[i];
		const struct function *function = refusal->function;

		strbuf_printf(out, "; %s%s%s: %s", function->name,
			      function->library ? "@" : "",
			      function->library ?: "", reason(refusal->err));
	}
	return true;
}
