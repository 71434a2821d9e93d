/* SPDX-License-Identifier: GPL-2.0-or-later */

int *k_last(int *room, int count);
int *k_seventh(int *room, long b, long c, long d, long e, long f, int count);
void k_out(int *room, long b, long c, long d, long e, long f, int *out);

int main(void)
{
	int room[4], out = 0;

	k_last(room, 3);
	k_seventh(room, 1, 0, 0, 0, 0, 4);
	k_out(room, 0, 0, 0, 0, 0, &out);
	return out != 5;
}
