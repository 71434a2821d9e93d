#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs each fuzz target for FUZZ_SECONDS. `make fuzz' builds them and sets the
# environment. What was found is left in fuzz-build/TARGET.found.

if [ -z "$CLANG" ]; then
	echo '1..0 # SKIP fuzzing: clang is missing (apt-get install clang)'
	exit 0
fi
if [ -z "$FUZZ_PROGRAMS" ]; then
	echo '1..0 # SKIP fuzzing: there are no targets'
	exit 0
fi

set -- $FUZZ_PROGRAMS
echo "1..$#"
number=0
failed=0
for program; do
	number=$((number + 1))
	name=$(basename "$program")
	corpus=$program.corpus
	found=$program.found
	mkdir -p "$corpus" "$found"
	seeds=$top_srcdir/tests/fuzz/${name#fuzz_}
	[ -d "$seeds" ] || seeds=
	if "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 \
		-rss_limit_mb=2048 -artifact_prefix="$found/" -verbosity=0 \
		-print_final_stats=1 "$corpus" $seeds >"$program.log" 2>&1
	then
		echo "ok $number - $name"
		grep number_of_executed_units "$program.log" | sed 's/^/# /'
	else
		failed=1
		echo "not ok $number - $name"
		tail -n 40 "$program.log" | sed 's/^/# /'
	fi
done
exit $failed
