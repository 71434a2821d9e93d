/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places FILE: reads addresses of FILE (hexadecimal) from standard input and
 * prints for each what `addr2line -a -f -i' does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "debuginfo/debuginfo.h"

static struct image *open_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image *image;
	int err = fd < 0 ? -errno : image_open(fd, path, &image);

	if (err) {
		fprintf(stderr, "places: %s: %s\n", path, strerror(-err));
		exit(1);
	}
	close(fd);
	image_set_debug_path(image, "", path);
	return image;
}

static size_t read_addresses(uint64_t **ret)
{
	size_t count = 0, room = 0;
	uint64_t address;

	*ret = NULL;
	while (scanf("%" SCNx64, &address) == 1) {
		*ret = xgrow(*ret, count, &room, sizeof(**ret));
		(*ret)[count++] = address;
	}
	return count;
}

static void print_places(struct debuginfo *debuginfo, struct image *image,
			 uint64_t address)
{
	const struct debug_place *places;
	int count = debuginfo_places(debuginfo, image, address, &places);
	int i;

	printf("0x%016" PRIx64 "\n", address);
	if (count <= 0)
		printf("??\n??:0\n");
	for (i = 0; i < count; i++) {
		printf("%s\n%s:",
		       places[i].function ? places[i].function : "??",
		       places[i].file ? places[i].file : "??");
		if (places[i].line)
			printf("%u\n", places[i].line);
		else
			printf("?\n");
	}
}

int main(int argc, char **argv)
{
	struct debuginfo_losses losses;
	struct debuginfo *debuginfo;
	struct image *image;
	uint64_t *addresses;
	size_t count, i;

	if (argc != 2)
		return 2;
	debuginfo = debuginfo_new();
	image = open_image(argv[1]);
	count = read_addresses(&addresses);
	debuginfo_prepare_places(debuginfo, image, addresses, count);
	for (i = 0; i < count; i++)
		print_places(debuginfo, image, addresses[i]);
	losses = debuginfo_losses(debuginfo);
	debuginfo_free(debuginfo);
	image_put(image);
	free(addresses);
	return losses.crashed || losses.timed_out || losses.malformed;
}
