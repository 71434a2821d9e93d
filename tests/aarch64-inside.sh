#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of the machine that tests/aarch64.sh starts.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /root /dev/pts /dev/shm
chmod 1777 /tmp
chmod 755 / /calltrap
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
printf '%s\n' root:x:0:0::/root:/bin/bash nobody:x:65534:65534::/:/bin/sh \
	>/etc/passwd
printf '%s\n' root:x:0: nogroup:x:65534: >/etc/group
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

./calltrap ./narrow >output 2>&1
has '32-bit: refused' "it is for a processor that calltrap doesn't know"
has '32-bit: unharmed' '^\+\+\+ exited \(status 3\) \+\+\+$'

export builddir=$PWD top_srcdir=$PWD CALLTRAP=$PWD/calltrap CC=gcc
export CK_DEFAULT_TIMEOUT=600 E2E_PATIENCE=400 PYTHONDONTWRITEBYTECODE=1

# every NAME COMMAND...: its test points as ours.
every()
{
	local name=$1 status
	shift
	"$@" >output 2>&1
	status=$?
	while read -r line; do
		case $line in
		ok*) tell ok "$name: ${line#*- }" ;;
		'not ok'*) tell 'not ok' "$name: ${line#*- }" ;;
		'1..0'*) tell ok "$name # SKIP ${line#*SKIP}" ;;
		'#'*) echo "$line" ;;
		esac
	done <output
	[ $status -le 1 ] || tell 'not ok' "$name: to its end, not $status"
}

for program in tests/unit/test_*; do
	case $program in
	*.*) ;;
	*) every "${program##*/}" "$program" ;;
	esac
done

read -ra scripts <wanted
for name in "${scripts[@]}"; do
	every "$name" python3 "tests/e2e/test_$name.py"
done

echo "1..$number"
sync
echo o >/proc/sysrq-trigger
sleep 30
