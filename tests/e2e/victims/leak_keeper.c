/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with a place to keep something. */
void *keeper;
