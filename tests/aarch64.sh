#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make check-aarch64': builds calltrap for arm64, and runs in an emulated
# machine, with Debian's kernel, a few programs under calltrap, the unit tests
# (or those that AARCH64_UNITS names: "aarch64 memory"), and those of the
# end-to-end tests that AARCH64_TESTS names ("log values"), AARCH64_TEST_SECONDS
# of each, with AARCH64_PACKAGES besides its own. Speaks TAP. What it makes (a
# root folder of 600 MB, an archive of that, and what it has built) stays in
# AARCH64_CACHE for the next time. Needs the packages mmdebstrap,
# qemu-system-arm, clang, lld, llvm, cpio and pkg-config.
#
# What the machine hasn't come to in AARCH64_SECONDS is skipped: how fast it is
# nobody knows. So is everything where there is no such machine to be had.
#
# The compiler is clang: Debian's gcc for arm64 and gcc-multilib, which the tests
# of i386 programs need, can't be installed both.

set -euo pipefail

top=$(cd "${top_srcdir:-.}" && pwd)
cache=${AARCH64_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/calltrap-aarch64}
root=$cache/root

# What configure asks for, and what the machine runs.
packages="base-files bash coreutils libc-bin mount procps grep sed libc6-dbg libc6-dev
	linux-libc-dev linux-image-cloud-arm64 libelf-dev libunwind-dev
	libiberty-dev libjansson-dev liblzma-dev uthash-dev libdwarf-dev
	zlib1g-dev libzstd-dev libprotobuf-c-dev check libsubunit-dev
	dash debianutils diffutils findutils gawk gcc g++ make python3
	util-linux ${AARCH64_PACKAGES-}"

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

# Links that name the root, as the machine's linker follows them, lead nowhere
# here: the archive of objects would be taken instead, of ncurses' one half.
relative_links()
{
	local link
	for link in "$1"/usr/lib/aarch64-linux-gnu/*; do
		case $(readlink "$link") in
		/*) ln -sfn "../../..$(readlink "$link")" "$link" ;;
		esac
	done
}

# A mirror that doesn't answer is one that isn't there. /lib is a link, as on
# machines: musl-gcc finds its shared library by that.
make_root()
{
	rm -rf "$root.new"
	# shellcheck disable=SC2086
	timeout 300 mmdebstrap --quiet --variant=extract --architectures=arm64 \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
		--include="$(echo $packages | tr ' ' ,)" \
		bookworm "$root.new" >"$work/log" 2>&1 ||
		skip "no root: $(tail -n 1 "$work/log")"
	relative_links "$root.new"
	# Nobody has done this either, and there it takes minutes; of another
	# version it is left unread.
	python3 -m compileall -q --invalidation-mode unchecked-hash \
		"$root.new"/usr/lib/python3.* >"$work/log" 2>&1 || true
	archive "$root.new" . >"$cache/root.cpio" ||
		skip 'no archive of the root'
	mv "$root.new" "$root"
}

sources()
{
	git -C "$top" -c safe.directory='*' ls-files -co --exclude-standard "$@"
}

# Of the tree as it is, built elsewhere.
build()
{
	mkdir -p "$cache/source" "$cache/build"
	(cd "$top" && sources -z |
		xargs -0 cp -u --preserve=mode --parents -t "$cache/source" &&
		cp -pu --parents -r configure aclocal.m4 config.h.in \
			Makefile.in build-aux "$cache/source")
	cd "$cache/build"
	local pc=$root/usr/lib/aarch64-linux-gnu/pkgconfig
	[ -e config.status ] ||
	PKG_CONFIG_LIBDIR=$pc PKG_CONFIG_SYSROOT_DIR=$root \
		../source/configure --quiet --host=aarch64-linux-gnu \
		CC="${CCACHE-} ${compiler//[$'\n\t']/ }" \
		CFLAGS='-g -O2' LDFLAGS="$linker" STRIP=llvm-strip \
		"--with$([ -e "$pc/ncursesw.pc" ] || echo out)-ncurses"
	make -s -j"$(nproc)" calltrap
	if [ -n "${AARCH64_UNITS-}" ]; then
		units=" $AARCH64_UNITS"
		# shellcheck disable=SC2086
		make -s -j"$(nproc)" ${units// / tests/unit/test_}
	else
		make -s -j"$(nproc)" check TESTS=
	fi
}

# victim NAME SOURCE OPTION...
victim()
{
	# shellcheck disable=SC2086
	$compiler $linker -O1 -g -pthread "${@:3}" "$top/tests/$2" -o "$place/$1"
}

# No object of the C library's is made for guarded pages: a library that has none
# of them is.
victims()
{
	# shellcheck disable=SC2086
	clang --target=arm-linux-gnueabihf $linker -nostdlib -static \
		"$top/tests/aarch64-narrow.c" -o "$place/narrow"
	victim calls aarch64-calls.c
	victim signed aarch64-calls.c -mbranch-protection=standard
	victim tags aarch64-tags.c
	victim vectors aarch64-vectors.c -march=armv8-a+sve
	victim libguarded.so aarch64-guarded.c -shared -fPIC -nostartfiles \
		-mbranch-protection=standard -Wl,-z,force-bti \
		-Wl,-soname,libguarded.so
	victim guards aarch64-guards.c "$place/libguarded.so" \
		"-Wl,-rpath,\$ORIGIN"
	victim LoopLeak e2e/victims/heap_leak.c
}

pack()
{
	local place=$work/machine/calltrap name
	mkdir -p "$place/tests/unit"
	llvm-strip -o "$place/calltrap" calltrap
	(cd "$cache/source" && cp --parents -r debian etc examples man tests/e2e \
		tests/torture tests/fuzz/snapshot tests/aarch64-programs.py \
		src/report/flame "$place")
	for name in ${AARCH64_UNITS:-$(cd tests/unit && echo test_*)}; do
		name=tests/unit/test_${name#test_}
		[ ! -x "$name" ] || [ -d "$name" ] || cp "$name" "$place/$name"
	done
	for name in tests/e2e/judge tests/e2e/places; do
		[ ! -x "$name" ] || cp "$name" "$place/$name"
	done
	echo "${AARCH64_TEST_SECONDS:-1200} ${AARCH64_TESTS-}" >"$place/wanted"
	victims
	cp "$root"/lib/modules/*/kernel/fs/fuse/fuse.ko "$work/machine"
	cp "$top/tests/aarch64-inside.sh" "$work/machine/init"
	chmod +x "$work/machine/init"
	archive "$work/machine" . >"$work/machine.cpio"
}

# The machine's lines of TAP, numbered here: its last ones may never come. Others
# are the kernel's.
number()
{
	local line number=0
	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		'ok - '*) echo "ok $((++number)) ${line#ok }" ;;
		'not ok - '*) echo "not ok $((++number)) ${line#not ok }" ;;
		'#'*) echo "$line" ;;
		esac
		echo "$line" >>"$work/output"
	done
	echo $number >"$work/number"
}

run()
{
	local seconds=${AARCH64_SECONDS:-3000} status number
	echo 0 >"$work/status"
	{
		timeout "$seconds" qemu-system-aarch64 -M virt \
			-cpu max,pauth-impdef=on -smp 2 -m 4096 -nographic \
			-nic none -no-reboot -kernel "$root"/boot/vmlinuz-* \
			-initrd "$work/initrd" \
			-append 'console=ttyAMA0 quiet panic=-1' \
			</dev/null 2>&1 || echo $? >"$work/status"
	} | number
	status=$(cat "$work/status")
	number=$(cat "$work/number")
	if ! grep -q '^calltrap: begun' "$work/output"; then
		skip "the machine has not started ($status):" \
			"$(tail -n 1 "$work/output" | tr -dc '[:print:]')"
	elif grep -q '^calltrap: done' "$work/output"; then
		echo "1..$number"
	elif [ "$status" = 124 ]; then
		echo "ok $((number + 1)) - the rest # SKIP not within" \
			"$seconds s: the machine is slow"
		echo "1..$((number + 1))"
	else
		tail -n 20 "$work/output" | sed 's/^/# /'
		echo 'Bail out! the machine has not come to its end'
	fi
}

sources >/dev/null 2>&1 || skip 'this is no clone'
[ -e "$root" ] || make_root
(build) >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" | sed 's/^/# /'
	echo 'Bail out! it does not build'
	exit 1
}
cd "$cache/build"
pack >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" | sed 's/^/# /'
	echo 'Bail out! the machine was not made'
	exit 1
}
cat "$cache/root.cpio" "$work/machine.cpio" >"$work/initrd" ||
	skip 'no archive of the machine'
run
