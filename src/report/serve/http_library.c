/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/http_library.h"

#include "report/serve/library.h"

bool http_library_load(struct http_library *ret)
{
	void *library = library_load("libmicrohttpd.so.12");

	if (!library)
		return false;
#define LOAD(field, name)                       \
	((ret->field = (__typeof__(ret->field)) \
		  library_symbol(library, "MHD_" #name)) != NULL)
	return LOAD(start_daemon, start_daemon) &&
	       LOAD(stop_daemon, stop_daemon) && LOAD(run, run) &&
	       LOAD(get_timeout, get_timeout) &&
	       LOAD(get_daemon_info, get_daemon_info) &&
	       LOAD(suspend_connection, suspend_connection) &&
	       LOAD(resume_connection, resume_connection) &&
	       LOAD(lookup_connection_value, lookup_connection_value) &&
	       LOAD(get_connection_values, get_connection_values) &&
	       LOAD(response_from_buffer, create_response_from_buffer) &&
	       LOAD(response_from_fd, create_response_from_fd64) &&
	       LOAD(add_response_header, add_response_header) &&
	       LOAD(queue_response, queue_response) &&
	       LOAD(destroy_response, destroy_response);
#undef LOAD
}
