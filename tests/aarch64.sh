#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make check-aarch64': builds calltrap for arm64, and runs in an emulated
# machine, with Debian's kernel, a few programs under calltrap, the unit tests,
# and those of the end-to-end tests that AARCH64_TESTS names ("log values"), for
# AARCH64_SECONDS at most. Speaks TAP. What it makes (a root folder of 700 MB, an
# archive of that, and what it has built) stays in AARCH64_CACHE for the next
# time. Needs the packages mmdebstrap, qemu-system-arm, clang, lld, llvm, cpio and
# pkg-config.
#
# The compiler is clang: Debian's gcc for arm64 and gcc-multilib, which the tests
# of i386 programs need, can't be installed both.

set -euo pipefail

top=$(cd "${top_srcdir:-.}" && pwd)
cache=${AARCH64_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/calltrap-aarch64}
root=$cache/root

# What configure asks for, and what the machine runs.
packages='base-files bash coreutils mount procps grep sed libc6-dbg libc6-dev
	linux-libc-dev linux-image-cloud-arm64 libelf-dev libunwind-dev
	libiberty-dev libjansson-dev liblzma-dev uthash-dev libdwarf-dev
	zlib1g-dev libzstd-dev libprotobuf-c-dev check libsubunit-dev
	dash debianutils diffutils findutils gawk gcc g++ make python3
	util-linux'

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

for program in mmdebstrap qemu-system-aarch64 clang ld.lld llvm-strip \
	cpio pkg-config; do
	command -v $program >/dev/null || skip "there is no $program"
done

# A linker for another machine doesn't find what libraries need of each other.
compiler="clang --target=aarch64-linux-gnu --sysroot=$root
	--gcc-toolchain=$root/usr"
linker='-fuse-ld=lld -Wl,--allow-shlib-undefined'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

# archive FOLDER NAME...: as a kernel unpacks it into its first root.
archive()
{
	(cd "$1" && shift && find "$@" \
		\( -path ./boot -o -path ./dev -o -path ./usr/share/doc -o \
		-name modules \) -prune -o -print |
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
	mkdir -p "$cache/source" "$cache/build"
	(cd "$top" && git ls-files -co --exclude-standard -z |
		xargs -0 cp -pu --parents -t "$cache/source" &&
		cp -pu --parents -r configure aclocal.m4 config.h.in \
			Makefile.in build-aux "$cache/source")
	cd "$cache/build"
	[ -e config.status ] ||
	PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig \
	PKG_CONFIG_SYSROOT_DIR=$root \
		../source/configure --quiet --host=aarch64-linux-gnu \
		CC="${CCACHE-} ${compiler//[$'\n\t']/ }" \
		CFLAGS='-g -O2' LDFLAGS="$linker" STRIP=llvm-strip \
		--without-ncurses --without-libmicrohttpd --without-libcurl
	make -s -j"$(nproc)" calltrap
	make -s -j"$(nproc)" check TESTS=
}

victim()
{
	# shellcheck disable=SC2086
	$compiler $linker -O1 -g $3 "$2" -o "$place/$1" -pthread
}

pack()
{
	local place=$work/machine/calltrap program
	mkdir -p "$place"
	llvm-strip -o "$place/calltrap" calltrap
	(cd "$cache/source" && cp --parents -r debian etc examples man tests/e2e \
		tests/unit src/report/flame "$place")
	for program in tests/unit/test_*; do
		[ ! -x "$program" ] || [ -d "$program" ] ||
			cp "$program" "$place/$program"
	done
	echo "${AARCH64_TESTS-}" >"$place/wanted"
	# shellcheck disable=SC2086
	clang --target=arm-linux-gnueabihf $linker -nostdlib -static \
		"$top/tests/aarch64-narrow.c" -o "$place/narrow"
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
		-cpu max,pauth-impdef=on -smp 2 -m 4096 -nographic -nic none \
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
cd "$cache/build"
pack
run
