/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HTTP_LIBRARY_H
#define CALLTRAP_HTTP_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

/* What is used of libmicrohttpd, which is loaded when it is wanted. */
struct http_library {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_get_timeout) *get_timeout;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_suspend_connection) *suspend_connection;
	__typeof__(MHD_resume_connection) *resume_connection;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_create_response_from_buffer) *response_from_buffer;
	__typeof__(MHD_create_response_from_fd64) *response_from_fd;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
};

/* False: it isn't there, or is another one than is expected. */
bool http_library_load(struct http_library *ret);

#endif
