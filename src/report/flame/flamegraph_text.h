/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FLAMEGRAPH_TEXT_H
#define CALLTRAP_FLAMEGRAPH_TEXT_H

/* The files flamegraph.css, flamegraph.js and flamegraph_tools.js. */
extern const char flamegraph_css[];
extern const char flamegraph_js[];
extern const char flamegraph_tools_js[];

#endif
