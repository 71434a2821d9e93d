/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A class with a pointer, a copy constructor and a destructor. Its assignment
 * takes new cells, but doesn't delete those that it had.
 */
#include <string>
#include "server.h"

class matrix {
public:
	explicit matrix(size_t size) : size(size), cells(new_cells(size)) {}
	matrix(const matrix &other)
		: size(other.size), cells(new_cells(other.size)) {}
	matrix &operator=(const matrix &other)
	{
		size = other.size;
		cells = assigned_cells(size);
		return *this;
	}
	~matrix() { delete[] cells; }

private:
	static double *new_cells(size_t size)
	{
		return new double[size * size]();
	}
	static double *assigned_cells(size_t size)
	{
		return new double[size * size + 1]();
	}
	size_t size;
	double *cells;
};

static std::string make_title(unsigned int number)
{
	return "the result of the computation number " +
	       std::to_string(number);
}

static void compute(unsigned int number)
{
	matrix a(4 + pick(6)), b(a);
	std::string title = make_title(number);

	use(title.data());
	if (pick(6) == 0)
		b = a;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(25); i++)
		compute(i);
	return 0;
}
