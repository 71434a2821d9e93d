#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs each fuzz target for FUZZ_SECONDS, as many at a time as there are
# processors. `make fuzz' builds them and sets the environment. What was found
# is left in fuzz-build/TARGET.found.

# run_one PROGRAM: tells the whole result in one write.
run_one()
{
	name=$(basename "$1")
	corpus=$1.corpus
	found=$1.found
	mkdir -p "$corpus" "$found"
	seeds=$top_srcdir/tests/fuzz/${name#fuzz_}
	[ -d "$seeds" ] || seeds=
	if "$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 \
		-rss_limit_mb=2048 -artifact_prefix="$found/" -verbosity=0 \
		-print_final_stats=1 "$corpus" $seeds >"$1.log" 2>&1
	then
		result=ok
		said=$(grep number_of_executed_units "$1.log")
	else
		result='not ok'
		said=$(tail -n 40 "$1.log")
	fi
	said=$(echo "$said" | sed 's/^/# /')
	printf '%s - %s\n%s\n' "$result" "$name" "$said"
	[ "$result" = ok ]
}

if [ $# = 1 ]; then
	run_one "$1"
	exit
fi
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
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" sh "$0"
[ $? = 0 ]
