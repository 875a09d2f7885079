/* SPDX-License-Identifier: MIT
 *
 * view.c - Owns: `proftrace view`: one run for a browser on this machine. Threads: main only. Never: is reached from
 * another machine; starts a browser.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/session.h"
#include "serve/pages.h"
#include "serve/runs.h"
#include "serve/server.h"
#include "util/auto.h"
#include "util/mem.h"
#include "cmd.h"
#include "arguments/options.h"

static void print_addresses(const struct pt_server *server, const char *name)
{
    PT_AUTO(pt_str_fini) struct pt_str address = {0};
    pt_pages_put_name(&address, name);
    printf("report    http://127.0.0.1:%d/runs/%s?token=%s\n", server->port, pt_str_text(&address), server->token);
    printf("timeline  http://127.0.0.1:%d/timelines/%s?token=%s  (open the file in ui.perfetto.dev)\n", server->port,
           pt_str_text(&address), server->token);
    fflush(stdout);
}

/* `err` is set where it is known why the folder is no run. The folder that the run lies in is served: its other runs
 * can be compared with it. */
static int serve(char *run, int port, struct pt_error *err)
{
    char *slash = strrchr(run, '/');
    struct pt_kept_heads kept = {0};
    struct pt_pages pages = {.directory = slash == run ? "/" : run, .kept = &kept};
    struct pt_server server = {.fd = -1, .answer = pt_pages_answer, .context = &pages};
    struct stat status;
    const bool is_folder = stat(run, &status) == 0 && S_ISDIR(status.st_mode);
    *slash = 0;
    PT_AUTO(pt_freep) char *found = pt_runs_path_of(pages.directory, slash + 1);
    if (!found && is_folder && err->text[0]) /* both addresses would be 404 */
        return -1;
    if (!found)
        return pt_fail_code(err, 3, "%s/%s: no run; a run directory is what `proftrace run` makes", run, slash + 1);
    pages.token = server.token;
    int result = pt_server_make_token(server.token, err);
    if (!result)
        result = pt_server_open(&server, port, err);
    if (!result) {
        print_addresses(&server, slash + 1);
        result = pt_server_run(&server, err);
    }
    pt_server_close(&server);
    pt_kept_heads_fini(&kept);
    return result;
}

int pt_cmd_view(int argc, char **argv, struct pt_error *err)
{
    pt_u64 port = 0;
    const struct pt_opt table[] = {
        PT_OPT_COUNT("port", 'p', &port, "N", "of 127.0.0.1 (default: 0, one that is free)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (port > 65535)
        return pt_fail_code(err, 2, "--port is from 0 to 65535");
    PT_AUTO(pt_freep) char *named = pt_session_directory(args.n ? args.values[0] : NULL, err);
    PT_AUTO(pt_freep) char *path = named ? realpath(named, NULL) : NULL;
    if (!named)
        return -1;
    if (!path)
        return pt_fail_code(err, 3, "%s: %s; a run directory is what `proftrace run` makes", named, strerror(errno));
    return serve(path, (int)port, err);
}
