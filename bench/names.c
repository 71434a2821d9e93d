/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names FILE COUNT: names so many addresses all over a file's code, and prints
 * how many have a name, how many a source line, the seconds that took, and the
 * peak memory in MiB of this process and of the one that reads DWARF.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "naming/namer.h"

struct result {
	size_t named;
	size_t lines;
};

static struct frame *make_frames(const struct code *code, size_t count)
{
	struct frame *frames = xcalloc(count, sizeof(*frames));
	size_t symbol_count, i;
	const struct symbol *symbols =
		image_symbols(code->image, &symbol_count);

	if (!symbol_count)
		exit(1);
	for (i = 0; i < count; i++) {
		const struct symbol *symbol =
			&symbols[i * symbol_count / count];
		uint64_t inside = symbol->size ? i * 7 % symbol->size : 0;

		frames[i] = (struct frame){ code, symbol->address + inside,
					    FRAME_SIGNAL };
	}
	return frames;
}

static struct result name_all(struct namer *namer, const struct frame *frames,
			      size_t count)
{
	struct result result = { 0 };
	size_t i;

	namer_prepare(namer, frames, count);
	for (i = 0; i < count; i++) {
		const struct frame_name *names;

		namer_names(namer, &frames[i], &names);
		result.named += names[0].function != NULL;
		result.lines += names[0].line != 0;
	}
	return result;
}

static double peak(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_maxrss / 1024.0;
}

int main(int argc, char **argv)
{
	struct namer_options options = { .demangle = true };
	struct stacks *stacks = stacks_new();
	struct result result;
	struct image *image;
	struct namer *namer;
	struct frame *frames;
	uint64_t begin;
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;

	if (!count || fd < 0 || image_open(fd, argv[1], &image))
		return 1;
	options.debuginfo = debuginfo_new();
	namer = namer_new(&options);
	frames = make_frames(stacks_code(stacks, image, argv[1], 0), count);
	begin = clock_now();
	result = name_all(namer, frames, count);
	begin = clock_now() - begin;
	namer_free(namer);
	debuginfo_free(options.debuginfo);
	stacks_free(stacks);
	image_put(image);
	free(frames);
	printf("%zu %zu %.2f %.1f %.1f\n", result.named, result.lines,
	       begin / 1e9, peak(RUSAGE_SELF), peak(RUSAGE_CHILDREN));
	return 0;
}
