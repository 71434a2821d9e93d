/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module of Python with three functions, one of which leaks. */
#include <Python.h>

static PyObject *parse(PyObject *self, PyObject *text)
{
	size_t size = PyUnicode_GetLength(text) + 100;
	char *copy = malloc(size);

	(void)self;
	memset(copy, 1, size);
	free(copy);
	return PyLong_FromSize_t(size);
}

static PyObject *convert(PyObject *self, PyObject *text)
{
	size_t size = PyUnicode_GetLength(text) + 64;
	char *volatile copy = malloc(size);

	(void)self;
	memset(copy, 1, size);
	return PyLong_FromSize_t(size); /* copy is forgotten */
}

static PyObject *store(PyObject *self, PyObject *text)
{
	static char *last[4];
	static unsigned next;

	(void)self;
	free(last[next % 4]);
	last[next++ % 4] = malloc(PyUnicode_GetLength(text) + 200);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "parse", parse, METH_O, "gives all back" },
	{ "convert", convert, METH_O, "leaks" },
	{ "store", store, METH_O, "keeps four" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "leaky", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_leaky(void)
{
	return PyModule_Create(&module);
}
