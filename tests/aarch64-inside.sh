#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of the machine that tests/aarch64.sh starts, which numbers
# the test points.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /root /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
chmod 1777 /tmp
chmod 755 / /calltrap
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
# Both versions have what the tests freeze and limit with.
mount -t tmpfs cgroups /sys/fs/cgroup
mkdir /sys/fs/cgroup/freezer /sys/fs/cgroup/memory /sys/fs/cgroup/unified
mount -t cgroup -o freezer freezer /sys/fs/cgroup/freezer
mount -t cgroup -o memory memory /sys/fs/cgroup/memory
mount -t cgroup2 unified /sys/fs/cgroup/unified
printf '%s\n' root:x:0:0::/root:/bin/bash nobody:x:65534:65534::/:/bin/sh \
	>/etc/passwd
printf '%s\n' root:x:0: nogroup:x:65534: >/etc/group
echo 127.0.0.1 localhost >/etc/hosts
insmod /fuse.ko
# Nobody has chosen these: packages are unpacked, and that is all.
for pair in awk:gawk cc:gcc c++:g++ php:php8.2; do
	[ -e "/usr/bin/${pair%:*}" ] || ln -s "${pair#*:}" "/usr/bin/${pair%:*}"
done
for file in /usr/share/php8.2-*/*/*.ini; do
	[ -e "$file" ] || continue
	priority=$(sed -n 's/^; priority=//p' "$file")
	ln -sf "$file" "/etc/php/8.2/cli/conf.d/${priority:-20}-${file##*/}"
done
# There is no ip(8); SIOCSIFFLAGS, IFF_UP.
python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 1))'
exec </dev/null >/dev/console 2>&1
cd /calltrap || exit
echo 'calltrap: begun'

export builddir=$PWD top_srcdir=$PWD CALLTRAP=$PWD/calltrap CC=gcc
export CK_DEFAULT_TIMEOUT=1800 E2E_PATIENCE=400 PYTHONDONTWRITEBYTECODE=1

# every NAME COMMAND...: its test points, as they come.
every()
{
	local name=$1 line status
	shift
	"$@" 2>&1 | while IFS= read -r line; do
		case $line in
		'ok '*) echo "ok - $name: ${line#* - }" ;;
		'not ok '*) echo "not ok - $name: ${line#* - }" ;;
		'1..0'*) echo "ok - $name # SKIP ${line#*SKIP}" ;;
		'#'*) echo "# $name: ${line#\#}" ;;
		esac
	done
	status=${PIPESTATUS[0]}
	case $status in
	0 | 1) echo "# $name: at its end after $SECONDS s" ;;
	124) echo "ok - $name: the rest # SKIP not within $limit s" ;;
	*) echo "not ok - $name: to its end, not $status" ;;
	esac
}

every programs python3 tests/aarch64-programs.py
[ ! -x tests/unit/test_aarch64 ] || every test_aarch64 tests/unit/test_aarch64
for program in tests/unit/test_*; do
	case ${program##*/} in
	*.* | test_aarch64) ;;
	*) every "${program##*/}" "$program" ;;
	esac
done

# As many at a time as there are processors, each on one: a tracer and its target
# are five times as fast where neither has to wake an emulated processor. None
# keeps the others from being run, and none of its points the rest.
read -r limit scripts <wanted
export limit E2E_POINT_SECONDS=180
export -f every
# shellcheck disable=SC2016
printf '%s\n' $scripts | xargs -r -n 1 -P "$(nproc)" --process-slot-var=slot bash -c '
	every "$1" timeout -k 60 "$limit" \
		taskset -c "$slot" python3 "tests/e2e/test_$1.py"' bash

echo 'calltrap: done'
sync
echo o >/proc/sysrq-trigger
sleep 30
