/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

/*
 * For tests/aarch64.sh: calls leaf() CALLS times with something in each bit of
 * each register of SVE, and looks whether it is there still. Ends with 77 where
 * the processor has none.
 */
#define CALLS 100

#define HAS_SVE (1ul << 22)
#define LONGEST 256 /* bytes of a register */

struct vectors {
	unsigned char z[32 * LONGEST], p[16 * LONGEST / 8];
};

static struct vectors before, after;

__asm__(".global leaf\n"
	".type leaf, %function\n"
	"leaf:\n"
	"	nop\n"
	"	ret\n"
	".size leaf, . - leaf\n");

#define FOR_16(x)                                                           \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) \
		x(13) x(14) x(15)
#define FOR_32(x)                                                         \
	FOR_16(x)                                                         \
	x(16) x(17) x(18) x(19) x(20) x(21) x(22) x(23) x(24) x(25) x(26) \
		x(27) x(28) x(29) x(30) x(31)

#define LOAD_Z(n)  "ldr z" #n ", [x19, #" #n ", mul vl]\n"
#define STORE_Z(n) "str z" #n ", [x20, #" #n ", mul vl]\n"
#define LOAD_P(n)  "ldr p" #n ", [x21, #" #n ", mul vl]\n"
#define STORE_P(n) "str p" #n ", [x22, #" #n ", mul vl]\n"

#define Z(n) "z" #n,
#define P(n) "p" #n,

static void call(void)
{
	register void *from_z __asm__("x19") = before.z;
	register void *to_z __asm__("x20") = after.z;
	register void *from_p __asm__("x21") = before.p;
	register void *to_p __asm__("x22") = after.p;

	__asm__ volatile(FOR_32(LOAD_Z)
				 FOR_16(LOAD_P) "bl leaf\n" FOR_32(STORE_Z)
					 FOR_16(STORE_P)
			 :
			 : "r"(from_z), "r"(to_z), "r"(from_p), "r"(to_p)
			 : FOR_32(Z) FOR_16(P) "x30", "memory");
}

static bool is_same(size_t length)
{
	return !memcmp(after.z, before.z, 32 * length) &&
	       !memcmp(after.p, before.p, 16 * length / 8);
}

int main(void)
{
	unsigned char *byte = (unsigned char *)&before;
	int length;

	if (!(getauxval(AT_HWCAP) & HAS_SVE))
		return 77;
	length = prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK;
	for (int i = 0; i < CALLS; i++) {
		for (size_t j = 0; j < sizeof(before); j++)
			byte[j] = (unsigned char)(i + j * 37 + (j >> 8));
		memset(&after, 0, sizeof(after));
		call();
		if (length < 16 || !is_same((size_t)length))
			return 1;
	}
	return 0;
}
