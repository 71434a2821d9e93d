#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make check-aarch64': builds calltrap for arm64 by a cross compiler, and runs
# test_aarch64 and a few programs under calltrap in an emulated machine, with
# Debian's kernel. Speaks TAP. What it makes first (a root folder of 700 MB and
# an archive of that) stays in AARCH64_CACHE for the next time. Needs the
# packages mmdebstrap, qemu-system-arm, gcc-aarch64-linux-gnu, cpio and pkg-config.

set -euo pipefail

top=$(cd "${top_srcdir:-.}" && pwd)
cache=${AARCH64_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/calltrap-aarch64}
root=$cache/root

# What configure asks for, and what the machine runs.
packages='base-files bash coreutils mount procps grep sed libc6-dbg libc6-dev
	linux-libc-dev linux-image-cloud-arm64 libelf-dev libunwind-dev
	libiberty-dev libjansson-dev liblzma-dev uthash-dev libdwarf-dev
	zlib1g-dev libzstd-dev libprotobuf-c-dev check libsubunit-dev'

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

for program in mmdebstrap qemu-system-aarch64 aarch64-linux-gnu-gcc cpio \
	pkg-config; do
	command -v $program >/dev/null || skip "there is no $program"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

# archive FOLDER NAME...: as a kernel unpacks it into its first root.
archive()
{
	(cd "$1" && shift && find "$@" \
		\( -path ./boot -o -path ./dev -o -path ./usr/share/doc -o \
		-name modules -o -name include \) -prune -o -print |
		cpio --quiet -o -H newc)
}

make_root()
{
	# shellcheck disable=SC2086
	mmdebstrap --quiet --variant=extract --architectures=arm64 \
		--include="$(echo $packages | tr ' ' ,)" \
		bookworm "$root.new" >"$work/log" 2>&1 ||
		skip "no root: $(tail -n 1 "$work/log")"
	archive "$root.new" . >"$cache/root.cpio"
	mv "$root.new" "$root"
}

# Of the tree as it is, built elsewhere.
build()
{
	mkdir -p "$work/source" "$work/build"
	(cd "$top" && git ls-files -co --exclude-standard -z |
		xargs -0 cp --parents -t "$work/source" &&
		cp --parents -r configure aclocal.m4 config.h.in Makefile.in \
			build-aux "$work/source")
	cd "$work/build"
	PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig \
	PKG_CONFIG_SYSROOT_DIR=$root \
		"$work/source/configure" --quiet --host=aarch64-linux-gnu \
		CC="${CCACHE-} aarch64-linux-gnu-gcc --sysroot=$root" \
		CFLAGS='-g -O2'
	make -s -j"$(nproc)" calltrap tests/unit/test_aarch64
}

victim()
{
	# shellcheck disable=SC2086
	aarch64-linux-gnu-gcc --sysroot="$root" -O1 -g $3 "$2" \
		-o "$work/machine/calltrap/$1" -pthread
}

pack()
{
	local place=$work/machine/calltrap
	mkdir -p "$place"
	cp calltrap tests/unit/test_aarch64 "$place"
	aarch64-linux-gnu-strip "$place/calltrap"
	cp -r "$top/etc" "$place/etc"
	victim calls "$top/tests/aarch64-calls.c" ''
	victim signed "$top/tests/aarch64-calls.c" \
		-mbranch-protection=standard
	cp "$top/tests/aarch64-inside.sh" "$work/machine/init"
	chmod +x "$work/machine/init"
	archive "$work/machine" . >"$work/machine.cpio"
	cat "$cache/root.cpio" "$work/machine.cpio" >"$work/initrd"
}

# Lines that are no TAP are the kernel's.
run()
{
	timeout "${AARCH64_SECONDS:-540}" qemu-system-aarch64 -M virt \
		-cpu max,pauth-impdef=on -smp 2 -m 3072 -nographic -nic none \
		-no-reboot -kernel "$root"/boot/vmlinuz-* \
		-initrd "$work/initrd" \
		-append 'console=ttyAMA0 quiet panic=-1' </dev/null |
		tr -d '\r' | tee "$work/output" |
		grep -E '^(ok|not ok|#|1\.\.)' || true
	grep -q '^1\.\.' "$work/output" ||
		echo 'Bail out! the machine has not come to its end'
}

[ -e "$root" ] || make_root
(build) >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" | sed 's/^/# /'
	echo 'Bail out! it does not build'
	exit 1
}
cd "$work/build"
pack
run
