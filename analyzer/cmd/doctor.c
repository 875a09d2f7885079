/* SPDX-License-Identifier: MIT
 *
 * doctor.c - Owns: `proftrace doctor`. Threads: main only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launcher/checks/checks.h"
#include "launcher/checks/library.h"
#include "launcher/checks/machine.h"
#include "util/auto.h"
#include "util/json/json_stream.h"
#include "util/text/sanitize.h"
#include "cmd.h"
#include "options.h"

static const char *const status_names[] = {[PT_CHECK_OK] = "ok", [PT_CHECK_WARN] = "warn", [PT_CHECK_FAIL] = "fail"};

static void print_text(const struct pt_checks *checks)
{
    for (size_t i = 0; i < checks->n; i++) {
        const struct pt_check *check = &checks->list[i];
        PT_AUTO(pt_str_fini) struct pt_str detail = {0};
        pt_sanitize_terminal(&detail, check->detail);
        printf("%-5s %-16s %s\n", status_names[check->status], check->name, pt_str_text(&detail));
        if (check->remedy[0])
            printf("%-5s %-16s -> %s\n", "", "", check->remedy);
    }
}

static int print_json(const struct pt_checks *checks, bool can_trace, struct pt_error *err)
{
    PT_AUTO(pt_freep) struct pt_json *json = malloc(sizeof *json);
    if (!json)
        return pt_fail(err, "out of memory");
    pt_json_init_file(json, stdout, true);
    pt_json_object(json, NULL);
    pt_json_text(json, "schema_version", "1.0");
    pt_json_bool(json, "can_trace", can_trace);
    pt_json_array(json, "checks");
    for (size_t i = 0; i < checks->n; i++) {
        const struct pt_check *check = &checks->list[i];
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "name", check->name);
        pt_json_text(json, "status", status_names[check->status]);
        pt_json_text(json, "detail", check->detail);
        pt_json_text(json, "remedy", check->remedy[0] ? check->remedy : NULL);
        pt_json_end(json);
    }
    pt_json_end(json);
    pt_json_end(json);
    return pt_json_close(json) < 0 ? pt_fail(err, "cannot write to standard output") : 0;
}

int pt_cmd_doctor(int argc, char **argv, struct pt_error *err)
{
    bool json = false;
    const struct pt_opt table[] = {PT_OPT_FLAG("json", 0, &json, "print JSON"), PT_OPT_END};
    struct pt_arguments args = {.min = 0, .max = -1, .stop_at_first = true};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    struct pt_checks checks = {0};
    pt_check_library(&checks);
    pt_check_place(&checks);
    pt_check_machine(&checks);
    pt_check_environment(&checks);
    if (args.n)
        pt_check_target(&checks, args.values[0]);
    bool can_trace = true;
    for (size_t i = 0; i < checks.n; i++)
        can_trace = can_trace && checks.list[i].status != PT_CHECK_FAIL;
    if (!json)
        print_text(&checks);
    else if (print_json(&checks, can_trace, err) < 0)
        return -1;
    return can_trace ? 0 : 1;
}
