/* SPDX-License-Identifier: MIT
 *
 * http.h - what a browser or Prometheus asks for: the head of a request, as hostile as text from a network is.
 *
 * Only what is needed here: GET and HEAD without a body, one request for each connection (RFC 9110, RFC 9112).
 */
#ifndef PT_SERVE_HTTP_H
#define PT_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { PT_HTTP_HEAD_MOST = 8192 };

struct pt_http_request {
    bool is_head;
    char path[1024];  /* decoded, begins with a slash */
    char query[2048]; /* as it came, without the "?" */
    char host[256];   /* "" = none */
    char bearer[128]; /* of the header Authorization; "" = none */
};

/* Is the head complete? */
bool pt_http_is_whole(const char *text, size_t n);
/* 0, or the status to answer with: 400, 405, 414, 505. */
int pt_http_parse(const char *text, size_t n, struct pt_http_request *ret_request);
/* Percent-encoding off, where "+" is itself. False: it does not fit, is cut, or hides a byte that is no text. */
bool pt_http_decode(const char *from, char *to, size_t room);
/* The value of a key of the query, decoded. False: there is none, or it is too long or no text. */
bool pt_http_query(const struct pt_http_request *request, const char *key, char *ret_value, size_t room);
/* "Not Found" */
const char *pt_http_status_text(int status);

#endif
