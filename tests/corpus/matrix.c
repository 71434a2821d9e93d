/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows are freed, the table of rows is not. */
/* truth: make_matrix */
#include "corpus.h"

#define ROWS 8

PLAIN double *row(void)
{
	return calloc(64, sizeof(double));
}

PLAIN double **make_matrix(void)
{
	return calloc(ROWS, sizeof(double *));
}

static void step(int i)
{
	double **matrix;

	if (i % 6 != 0)
		return;
	matrix = make_matrix();
	for (int k = 0; k < ROWS; k++)
		matrix[k] = row();
	for (int k = 0; k < ROWS; k++)
		free(matrix[k]);
}
