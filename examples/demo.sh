#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shows calltrap at work: it attaches to a program that is running already,
# logs some of its calls, functions of a library that is not loaded yet among
# them, and leaves again. `./bootstrap demo' builds calltrap and runs this.

cd "$(dirname "$0")/.." || exit 1
calltrap=${CALLTRAP:-./calltrap}
dir=$(mktemp -d) || exit 1
pid=

clean_up()
{
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

fail()
{
	echo "demo: $*" >&2
	exit 1
}

# What the program has printed last.
counter()
{
	tail -n 1 "$dir/output"
}

${CC:-cc} -O1 -o "$dir/demo" examples/demo.c -ldl || exit 1
${CC:-cc} -O1 -shared -fPIC -o "$dir/libshop.so" examples/demo-plugin.c ||
	exit 1

"$dir/demo" "$dir/libshop.so" >"$dir/output" &
pid=$!
sleep 0.3
echo "A program is running, process $pid. It says: $(counter)"
echo
set -- -p "$pid" -L -x access+usleep+shop_price -F examples/demo.conf \
	-tt -T --for 3s
echo "\$ calltrap $*"
timeout -k 5 30 "$calltrap" "$@"
status=$?
[ $status = 0 ] || fail "calltrap ended with status $status"

echo
before=$(counter)
sleep 1
after=$(counter)
echo "calltrap has left. The program said: $before; a second later: $after"
kill -0 "$pid" 2>/dev/null || fail 'the program has ended'
[ "$before" != "$after" ] || fail 'the program does not go on'
