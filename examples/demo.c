/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ordinary program to look at: a shop that sells something ten times a
 * second. After a second it loads a library, which knows the prices. It
 * prints how much it has sold, and ends by itself after a minute.
 *
 * Usage: demo LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const goods[] = { "apples", "honey", "a pot of tea" };

typedef int price_function(const char *what, int pieces);

static price_function *load_prices(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	price_function *price;

	if (!library) {
		fprintf(stderr, "demo: %s\n", dlerror());
		exit(1);
	}
	price = (price_function *)dlsym(library, "shop_price");
	if (!price) {
		fprintf(stderr, "demo: %s\n", dlerror());
		exit(1);
	}
	return price;
}

int main(int argc, char **argv)
{
	price_function *price = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: demo LIBRARY\n");
		return 2;
	}
	/*
	 * Some systems (Yama, kernel.yama.ptrace_scope = 1) let users trace
	 * only programs that they start through the tracer, unless the
	 * program itself agrees.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	setvbuf(stdout, NULL, _IOLBF, 0);

	for (int sold = 0; sold < 600; sold++) {
		const char *what = goods[sold % 3];
		int pieces = sold % 5 + 1;

		if (sold == 10)
			price = load_prices(argv[1]);
		if (price)
			price(what, pieces);
		if (access("closed", F_OK) == 0)
			break;
		printf("sold %d\n", sold + 1);
		usleep(100000);
	}
	return 0;
}
