/* SPDX-License-Identifier: MIT
 *
 * serve.c - Owns: `proftrace serve`. Threads: main only. Never: is reached from another machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/pages.h"
#include "serve/server.h"
#include "util/auto.h"
#include "util/runs_root.h"
#include "cmd.h"
#include "arguments/options.h"

/* The token of a file, which is made where it is missing: a Prometheus that scrapes for months reads the same file
 * (credentials_file) and cannot learn a new token at each start. */
static int take_token(const char *file, struct pt_server *server, struct pt_error *err)
{
    PT_AUTO(pt_closep) int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char text[64] = "";
    if (fd < 0 && errno == ENOENT) {
        if (pt_server_make_token(server->token, err) < 0)
            return -1;
        fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, server->token, PT_TOKEN_BYTES - 1) != PT_TOKEN_BYTES - 1)
            return pt_fail_code(err, 2, "cannot write %s: %s", file, strerror(errno));
        return 0;
    }
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n < 0)
        return pt_fail_code(err, 2, "cannot read %s: %s", file, strerror(errno));
    const size_t digits = strspn(text, "0123456789abcdef");
    if (digits != PT_TOKEN_BYTES - 1 || text[digits + strspn(text + digits, "\r\n")])
        return pt_fail_code(err, 2, "%s has to hold %d digits of 0-9a-f, as `openssl rand -hex %d` prints them", file,
                            PT_TOKEN_BYTES - 1, (PT_TOKEN_BYTES - 1) / 2);
    memcpy(server->token, text, PT_TOKEN_BYTES - 1);
    return 0;
}

int pt_cmd_serve(int argc, char **argv, struct pt_error *err)
{
    pt_u64 port = 7878;
    const char *token_file = NULL;
    const struct pt_opt table[] = {
        PT_OPT_COUNT("port", 'p', &port, "N", "of 127.0.0.1; 0 = one that is free (default: 7878)"),
        PT_OPT_TEXT("token-file", 0, &token_file, "FILE",
                    "the token of all addresses; made where it is missing (default: a new one each time)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (port > 65535)
        return pt_fail_code(err, 2, "--port is from 0 to 65535");
    PT_AUTO(pt_freep) char *root = pt_runs_root();
    const char *directory = args.n ? args.values[0] : root;
    PT_AUTO(pt_freep) char *path = realpath(directory, NULL);
    if (!path)
        return pt_fail_code(err, 3, "%s: %s; a directory of runs is what `proftrace run` makes", directory,
                            strerror(errno));
    struct pt_kept_heads kept = {0};
    struct pt_pages pages = {.directory = path, .kept = &kept};
    struct pt_server server = {.fd = -1, .answer = pt_pages_answer, .context = &pages};
    pages.token = server.token;
    int result = token_file ? take_token(token_file, &server, err) : pt_server_make_token(server.token, err);
    if (!result)
        result = pt_server_open(&server, (int)port, err);
    if (!result) {
        printf("http://127.0.0.1:%d/?token=%s\n", server.port, server.token);
        fflush(stdout);
        result = pt_server_run(&server, err);
    }
    pt_server_close(&server);
    pt_kept_heads_fini(&kept);
    return result;
}
