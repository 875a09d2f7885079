/* SPDX-License-Identifier: MIT
 *
 * server.h - pages for this machine only: a socket of the loopback interface, a token in the address, no write access.
 *
 * Each page is a text, or what a command of ours prints: a process of its own reads the trace files, which are hostile,
 * and a page that takes long keeps nobody waiting.
 */
#ifndef PT_SERVE_SERVER_H
#define PT_SERVE_SERVER_H

#include "util/error.h"
#include "util/str.h"
#include "http.h"

enum { PT_TOKEN_BYTES = 33 };

struct pt_page {
    int status;
    const char *type; /* of the body: "text/html; charset=utf-8" */
    struct pt_str body;
    char *command[12]; /* of ours, without "proftrace", closed by NULL, each allocated; empty = the body is the page */
};

struct pt_server {
    int fd, port;
    char token[PT_TOKEN_BYTES]; /* whoever has it may read */
    /* Fills the page of a request that may be answered. */
    void (*answer)(void *context, const struct pt_http_request *request, struct pt_page *ret_page);
    void *context;
};

/* 128 random bits. */
int pt_server_make_token(char token[PT_TOKEN_BYTES], struct pt_error *err);
/* Listen on 127.0.0.1; port 0 = any. -1: it is in use. */
int pt_server_open(struct pt_server *server, int port, struct pt_error *err);
/* Answers until SIGINT or SIGTERM. */
int pt_server_run(struct pt_server *server, struct pt_error *err);
void pt_server_close(struct pt_server *server);

#endif
