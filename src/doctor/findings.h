/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FINDINGS_H
#define CALLTRAP_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"

enum verdict { VERDICT_OK, VERDICT_LIMITED, VERDICT_NO };

/* What one check has found. Texts may hold what a process has chosen. */
struct finding {
	enum verdict verdict;
	bool vital;         /* with VERDICT_NO nothing can be traced */
	const char *what;   /* a constant: what was looked at */
	const char *remedy; /* a constant: what would help, or NULL */
	char *words;
};

/* A list of them; a zeroed one is empty. */
struct findings {
	struct finding *list;
	size_t count, room;
};

void findings_fini(struct findings *findings);
void findings_add(struct findings *findings, enum verdict verdict,
		  const char *what, const char *remedy, const char *format, ...)
	PRINTF_LIKE(5, 6);

/* The same of what tracing takes. */
void findings_add_vital(struct findings *findings, enum verdict verdict,
			const char *what, const char *remedy,
			const char *format, ...) PRINTF_LIKE(5, 6);

/* Whether none of the vital ones says no. */
bool findings_allow_tracing(const struct findings *findings);

/* A line each: "limited  kernel: words; remedy". */
void findings_text(const struct findings *findings, struct strbuf *out);

/* An array of {"verdict", "what", "words", "remedy", "vital"}. */
json_t *findings_json(const struct findings *findings) MUST_CHECK;

#endif
