#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of the machine that tests/aarch64.sh starts.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /root
exec </dev/null >/dev/console 2>&1
cd /calltrap || exit

number=0
tell()
{
	number=$((number + 1))
	echo "$1 $number - $2"
}

# has NAME PATTERN: the file "output" has such a line.
has()
{
	if grep -Eq -- "$2" output; then
		tell ok "$1"
		return
	fi
	tell 'not ok' "$1"
	echo "# no $2 in:"
	sed 's/^/# /' output
}

./test_aarch64 >output
while read -r line; do
	case $line in
	ok*) tell ok "${line#*- }" ;;
	'not ok'*) tell 'not ok' "${line#*- }" ;;
	esac
done <output

./calltrap ls / >output 2>&1
has 'ls: arguments and results' '^strrchr\("ls", .*= nil$'
has 'ls: its end' '^\+\+\+ exited \(status 0\) \+\+\+$'

./calltrap -S -e 'none@nowhere' ls / >output 2>&1
has 'system calls by name' '^mmap@SYS\('

for program in calls signed; do
	echo | ./calltrap -w4 -e strtod ./$program >output 2>&1
	has "$program: a stack" "^ > $program\\(main\\+"
	has "$program: to its end" "^ > $program\\(_start\\+"
	has "$program: a real result" 'strtod\("2.5", .* = 2.5$'

	rm -f pipe
	mkfifo pipe
	./$program <pipe &
	victim=$!
	exec 7>pipe
	sleep 2
	./calltrap -c -e malloc -p $victim >output 2>&1 &
	sleep 12
	echo >&7
	wait $victim
	status=$?
	wait
	has "$program: each call of each thread" ' 401 +malloc$'
	if [ $status = 0 ]; then
		tell ok "$program: unharmed"
	else
		tell 'not ok' "$program: unharmed, not $status"
	fi
done

echo | ./calltrap heap ./calls >output 2>&1
has 'heap: what is held' '1,234 '
has 'heap: its line' 'keep .*aarch64-calls\.c:[0-9]+'

echo "1..$number"
sync
echo o >/proc/sysrq-trigger
sleep 30
