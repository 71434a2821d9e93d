/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a library that keeps memory; after a word on standard input, if so
   wished. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buffer[BUFSIZ];
	void (*keep)(unsigned blocks, size_t size);
	void *library;
	char word;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (argc < 2)
		return 1;
	if (argc > 2 && (write(1, "ready\n", 6) < 0 || read(0, &word, 1) < 1))
		return 1;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return 1;
	keep = (void (*)(unsigned, size_t))dlsym(library, "lib_keep");
	keep(5, 123);
	printf("count MAIN blocks 5\ncount MAIN bytes %d\n", 5 * 123);
	return 0;
}
