/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What belongs to a request lies on an obstack of its own. At its end all
 * objects are freed from the first one on, but the obstack's last chunk stays.
 */
#include "server.h"
#include <obstack.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static void *start_request(struct obstack *stack)
{
	obstack_init(stack);
	return obstack_alloc(stack, 64);
}

static void *add_header(struct obstack *stack)
{
	return obstack_alloc(stack, 40 + pick(900));
}

static char *make_answer(void)
{
	return calloc(1, 300 + pick(300));
}

static void handle_request(void)
{
	struct obstack stack;
	void *first = start_request(&stack);
	char *answer;

	for (unsigned int i = 0; i < 5 + pick(15); i++)
		use(add_header(&stack));
	answer = make_answer();
	use(answer);
	free(answer);
	obstack_free(&stack, first);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(60))
		handle_request();
	return 0;
}
