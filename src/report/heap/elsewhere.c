/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/elsewhere.h"

#include "heap/forecast.h"

#define PART      0.5
#define BYTES_MIN 4096 /* a second: less comes and goes with the kernel */

/* However uncertain: what may explain it does. */
static double held_by(const struct watched *process,
		      const struct family *family, const struct survey *survey,
		      uint64_t watched)
{
	struct rise rise =
		rise_of(heap_total_history(process->heap, family), watched);

	rise_without_replaced(&rise, process->heap, family, survey);
	return rise.trend.slope > 0 ? rise.trend.slope : 0;
}

bool heap_grows_elsewhere(const struct heap_report_config *config,
			  const struct watched *process,
			  const struct survey *survey, uint64_t now,
			  struct elsewhere *ret)
{
	uint64_t watched = now - process->start;
	struct rise rise = rise_of(&process->resident, watched);

	*ret = (struct elsewhere){ .resident = rise.trend.slope };
	if (!rise.certain || rise.trend.slope < BYTES_MIN || !survey)
		return false;
	for (size_t i = 0; i < families_count(config->families); i++) {
		const struct family *family = families_at(config->families, i);

		if (family->has_size)
			ret->held += held_by(process, family, survey, watched);
	}
	return ret->held < PART * ret->resident;
}
