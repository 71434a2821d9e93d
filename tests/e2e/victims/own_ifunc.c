/* SPDX-License-Identifier: GPL-2.0-or-later */
int use(int number);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += use(i);
	return sum != 12;
}
