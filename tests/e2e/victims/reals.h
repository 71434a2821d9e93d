/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REALS_H
#define REALS_H

/* Numbers of both kinds, in registers of both kinds. */

double mix(int a, double b, const char *text, float c, long d, double e);
float narrow(float a, double b);
double four(double a, double b, double c, double d);
double five(double a, double b, double c, double d, double e);
double six_and_four(long a, double b, long c, double d, long e, double f,
		    long g, double h, long i, long j);
double stacked(long a, long b, long c, long d, long e, long f, long g, double h);
long rounded(double a);
void nothing(double a);
double from_nothing(void);
long double wide(long double a, double b);
double goes_on(double a, double b);

#endif
