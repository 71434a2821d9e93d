/* Loses blocks and asks for a file, until it is killed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *lose(size_t size)
{
	void *block = malloc(size);

	if (block)
		memset(block, 1, size);
	return block;
}

int main(void)
{
	while (1) {
		if (!lose(4711) || !access("/nowhere", F_OK))
			return 1;
		usleep(2000);
	}
}
