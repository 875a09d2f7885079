/* SPDX-License-Identifier: MIT
 *
 * doctor.c - Owns: `proftrace doctor`. Threads: main only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launcher/checks/checks.h"
#include "launcher/checks/gpu.h"
#include "launcher/checks/library.h"
#include "launcher/checks/machine.h"
#include "report/json/panel.h"
#include "report/medium.h"
#include "report/text/put.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "cmd.h"
#include "arguments/options.h"

static const char *const status_names[] = {[PT_DOCTOR_OK] = "ok", [PT_DOCTOR_WARN] = "warn", [PT_DOCTOR_FAIL] = "fail"};

/* The checks one below another, never cut: half a remedy is of no use. */
static int print_text(struct pt_doc *doc, const struct pt_doctor_checks *checks, struct pt_error *err)
{
    const struct pt_render_options how = pt_medium_of(NULL);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    struct pt_lines lines = {0};
    for (size_t i = 0; i < checks->n; i++) {
        const struct pt_doctor_check *check = &checks->list[i];
        pt_doc_line(&lines, NULL, pt_doc_format(doc, "%-5s %s", status_names[check->status], check->name), PT_SHOW_TEXT,
                    pt_text(check->detail));
        if (check->remedy[0])
            pt_doc_line(&lines, NULL, "", PT_SHOW_TEXT, pt_text(pt_doc_format(doc, "-> %s", check->remedy)));
    }
    pt_text_lines(&(struct pt_text_out){&how, &text}, &lines, "");
    free(lines.items);
    return pt_text_file_write(NULL, &text, err);
}

struct check_row {
    const char *name, *status, *detail;
    struct pt_value remedy;
};

static int print_json(struct pt_doc *doc, const struct pt_doctor_checks *checks, bool can_trace, struct pt_error *err)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct check_row, name, TEXT, "Check"),
        PT_COLUMN(struct check_row, status, TEXT, "Status"),
        PT_COLUMN(struct check_row, detail, TEXT, "Result"),
        PT_COLUMN(struct check_row, remedy, TEXT, "Remedy"),
    };
    struct pt_table *table;
    const struct pt_panel *panel = pt_doc_table(doc, "checks", "Checks", columns, 4, &table);
    for (size_t i = 0; i < checks->n; i++) {
        const struct pt_doctor_check *check = &checks->list[i];
        pt_table_add(table, &(struct check_row){
                                .name = check->name,
                                .status = status_names[check->status],
                                .detail = check->detail,
                                .remedy = check->remedy[0] ? pt_text(check->remedy) : pt_unknown("nothing to do"),
                            });
    }
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "schema_version", "1.0");
    pt_json_bool(&json, "can_trace", can_trace);
    pt_json_panel(&json, panel);
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write to standard output") : 0;
}

int pt_cmd_doctor(int argc, char **argv, struct pt_error *err)
{
    bool json = false;
    const struct pt_opt table[] = {PT_OPT_FLAG("json", 0, &json, "print JSON"), PT_OPT_END};
    struct pt_arguments args = {.min = 0, .max = -1, .stop_at_first = true};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    struct pt_doctor_checks checks = {0};
    pt_doctor_library(&checks);
    pt_doctor_place(&checks);
    pt_doctor_machine(&checks);
    pt_doctor_gpu(&checks, args.n ? args.values[0] : NULL);
    pt_doctor_environment(&checks);
    if (args.n)
        pt_doctor_target(&checks, args.values[0]);
    bool can_trace = true;
    for (size_t i = 0; i < checks.n; i++)
        can_trace = can_trace && checks.list[i].status != PT_DOCTOR_FAIL;
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    if ((json ? print_json(doc, &checks, can_trace, err) : print_text(doc, &checks, err)) < 0)
        return -1;
    return can_trace ? 0 : 1;
}
