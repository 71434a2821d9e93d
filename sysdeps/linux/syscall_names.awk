# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a table of the names of system calls out of what `cc -E -dM' says of
# asm/unistd_64.h, asm/unistd_32.h or asm/unistd.h, where some numbers have
# another name in between, and two are of no call. Variables: header, table.

BEGIN {
	print "/* SPDX-License-Identifier: GPL-2.0-or-later */"
	printf "#include \"%s\"\n\n", header
	printf "const char *const %s[] = {\n", table
}
$1 == "#define" && $2 ~ /^__NR3264_/ {
	numbers[$2] = $3
}
$1 == "#define" && $2 ~ /^__NR_[a-z_]/ && \
    $2 !~ /^__NR_(syscalls|arch_specific_syscall)$/ {
	values[substr($2, 6)] = $3
}
END {
	for (name in values) {
		number = values[name]
		if (number in numbers)
			number = numbers[number]
		if (number !~ /^[0-9]+$/)
			continue
		names[number] = name
		if (number + 1 > count)
			count = number + 1
	}
	for (i = 0; i < count; i++)
		if (i in names)
			printf "\t[%d] = \"%s\",\n", i, names[i]
	print "};\n"
	printf "const unsigned %s_count = %d;\n", table, count
	if (!count) {
		print "syscall_names.awk: no system calls" > "/dev/stderr"
		exit 1
	}
}
