/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: python
 *
 * The extension of py_extension.py. PyList_Append() takes a reference of its
 * own, and describe_rows() keeps the one that it has.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *describe_rows(PyObject *self, PyObject *args)
{
	PyObject *list = PyList_New(0), *text;

	(void)self;
	(void)args;
	for (int i = 0; i < 3; i++) {
		text = PyUnicode_FromFormat("row %d of a table with %d rows",
					    i, 3);
		PyList_Append(list, text);
	}
	return list;
}

static PyObject *tally_rows(PyObject *self, PyObject *args)
{
	PyObject *list = PyList_New(0), *number;

	(void)self;
	(void)args;
	for (int i = 0; i < 3; i++) {
		number = PyLong_FromLong(100000 + i);
		PyList_Append(list, number);
		Py_DECREF(number);
	}
	return list;
}

static PyMethodDef methods[] = {
	{ "describe", describe_rows, METH_NOARGS, NULL },
	{ "tally", tally_rows, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "py_extension", NULL, -1, methods,
	NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_py_extension(void);

PyMODINIT_FUNC PyInit_py_extension(void)
{
	return PyModule_Create(&module);
}
