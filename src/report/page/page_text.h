/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAGE_TEXT_H
#define CALLTRAP_PAGE_TEXT_H

/* What is in every page: style, body and script, made by make of the files of
   these names; and base64 of their SHA-256. */
extern const char page_css[], page_css_hash[];
extern const char page_html[], page_html_hash[];
extern const char page_js[], page_js_hash[];

#endif
