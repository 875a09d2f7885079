/* SPDX-License-Identifier: MIT
 *
 * open_run.c - Owns: the argument RUN of the reading commands. Threads: main only.
 */
#include "open_run.h"

/* As pt_open_session; `ret_path` NULL = the latest run. */
static int parse(const struct pt_opt *table, int argc, char **argv, const char **ret_path, struct pt_error *err)
{
    struct pt_arguments args = {.max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    *ret_path = !done && args.n ? args.values[0] : NULL;
    return done;
}

int pt_open_session(const struct pt_opt *table, int argc, char **argv, struct pt_session **ret_session,
                    struct pt_error *err)
{
    const char *path;
    const int done = parse(table, argc, argv, &path, err);
    if (done)
        return done;
    *ret_session = pt_session_open(path, err);
    return *ret_session ? 0 : -1;
}

int pt_open_run(const struct pt_opt *table, int argc, char **argv, struct pt_run *run, struct pt_error *err)
{
    const char *path;
    const int done = parse(table, argc, argv, &path, err);
    return done ? done : pt_run_open(path, run, err);
}

int pt_open_report(const struct pt_opt *table, int argc, char **argv, pt_i64 *since_ns, struct pt_report *report,
                   struct pt_error *err)
{
    const char *path;
    const int done = parse(table, argc, argv, &path, err);
    if (!done && *since_ns == 0)
        return pt_fail_code(err, 2, "option '--since': it looks back, so it is more than 0");
    *since_ns = *since_ns == PT_TIME_NOT_GIVEN ? 0 : *since_ns;
    return done ? done : pt_report_open_since(path, *since_ns, report, err);
}
