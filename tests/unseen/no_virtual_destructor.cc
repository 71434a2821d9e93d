// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shapes are deleted through a base class without a virtual destructor: the
// points of polygons stay.
#include "server.h"

struct shape {
	unsigned int colour = 0;
};

struct polygon : shape {
	explicit polygon(unsigned int n);
	~polygon() { delete[] points; }
	double *points;
};

static double *new_points(unsigned int n)
{
	return new double[2 * n];
}

polygon::polygon(unsigned int n) : points(new_points(n))
{
}

static shape *make_shape()
{
	return new polygon(3 + pick(10));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(90)) {
		shape *s = make_shape();

		use(s);
		delete s;
	}
}
