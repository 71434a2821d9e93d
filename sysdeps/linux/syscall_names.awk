# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a table of the names of system calls out of what `cc -E -dM' says of
# asm/unistd_64.h or asm/unistd_32.h. Variables: header, table.

BEGIN {
	print "/* SPDX-License-Identifier: GPL-2.0-or-later */"
	printf "#include \"%s\"\n\n", header
	printf "const char *const %s[] = {\n", table
}
$1 == "#define" && $2 ~ /^__NR_[a-z_]/ && $3 ~ /^[0-9]+$/ {
	names[$3] = substr($2, 6)
	if ($3 + 1 > count)
		count = $3 + 1
}
END {
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
