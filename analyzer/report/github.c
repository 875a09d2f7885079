/* SPDX-License-Identifier: MIT
 *
 * Owns: the words that GitHub Actions understands. Threads: any. Never: lets a recorded name end a command and begin
 * another.
 */
#include "github.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/show.h"
#include "util/auto.h"
#include "util/text/sanitize.h"

enum { MOST_OF_A_KIND = 10, MOST_SUMMARY_BYTES = 1000 * 1000 };

/* %, CR and LF end or encode; in a property : and , too. */
static void put_escaped(struct pt_str *out, const char *text, bool is_property)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_sanitize_terminal(&clean, text);
    for (const char *at = pt_str_text(&clean); *at; at++)
        if (*at == '%' || *at == '\r' || *at == '\n' || (is_property && (*at == ':' || *at == ',')))
            pt_str_printf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            pt_str_char(out, *at);
}

static const char *text_of(const struct pt_node *item, const char *key)
{
    const struct pt_node *node = pt_node_child(item, key);
    return node && node->value.type == PT_VALUE_TEXT ? node->value.text : NULL;
}

static void put_annotation(struct pt_str *out, const char *kind, const char *title, const struct pt_str *message)
{
    pt_str_printf(out, "::%s title=", kind);
    put_escaped(out, title, true);
    pt_str_add(out, "::");
    put_escaped(out, pt_str_text(message), false);
    pt_str_char(out, '\n');
}

static size_t add_failures(const struct pt_doc *doc, struct pt_str *out)
{
    const struct pt_node *list = pt_node_child(doc->root, "failures");
    size_t n = 0;
    for (const struct pt_node *item = list ? list->first : NULL; item && n < MOST_OF_A_KIND; item = item->next, n++) {
        PT_AUTO(pt_str_fini) struct pt_str title = {0};
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        const char *stage = text_of(item, "stage"), *reason = text_of(item, "reason");
        pt_str_printf(&title, "stage %s", stage ? stage : "?");
        pt_str_add(&message, reason ? reason : "failed");
        put_annotation(out, "error", pt_str_text(&title), &message);
    }
    return n;
}

static void add_floors(const struct pt_doc *doc, size_t n, struct pt_str *out)
{
    const struct pt_node *list = pt_node_child(doc->root, "quality_floors_broken");
    for (const struct pt_node *item = list ? list->first : NULL; item && n < MOST_OF_A_KIND; item = item->next, n++) {
        const struct pt_node *value = pt_node_child(item, "value"), *min = pt_node_child(item, "min");
        const char *key = text_of(item, "key");
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        if (value && value->value.type == PT_VALUE_UNKNOWN)
            pt_str_printf(&message, "is not known, so its floor of %g cannot be checked",
                          min ? pt_value_number(min->value) : 0);
        else
            pt_str_printf(&message, "%g is below its floor of %g", value ? pt_value_number(value->value) : 0,
                          min ? pt_value_number(min->value) : 0);
        put_annotation(out, "error", key ? key : "quality", &message);
    }
}

static void add_findings(const struct pt_doc *doc, bool infos, struct pt_str *out)
{
    const struct pt_node *list = pt_node_child(doc->root, "findings");
    size_t n = 0;
    for (const struct pt_node *item = list ? list->first : NULL; item && n < MOST_OF_A_KIND; item = item->next) {
        const char *severity = text_of(item, "severity"), *stage = text_of(item, "stage");
        const char *title = text_of(item, "title"), *advice = text_of(item, "advice");
        const struct pt_node *gain = pt_node_child(item, "gain_upper_s");
        if ((severity && !strcmp(severity, "info")) != infos)
            continue;
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        if (gain && pt_value_number(gain->value) > 0) {
            pt_str_add(&message, "up to ");
            pt_show_value(&message, gain, PT_STYLE_COMPACT);
            pt_str_add(&message, ". ");
        }
        pt_str_printf(&message, "%s", advice ? advice : "");
        PT_AUTO(pt_str_fini) struct pt_str heading = {0};
        pt_str_printf(&heading, "%s%s%s", stage ? stage : "", stage ? ", " : "", title ? title : "");
        put_annotation(out, infos ? "notice" : "warning", pt_str_text(&heading), &message);
        n++;
    }
}

void pt_github_annotations(const struct pt_doc *doc, struct pt_str *out)
{
    add_floors(doc, add_failures(doc, out), out);
    add_findings(doc, false, out);
    add_findings(doc, true, out);
}

static int read_report(const char *run_dir, struct pt_str *ret, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str path = {0};
    pt_str_printf(&path, "%s/report.md", run_dir);
    PT_AUTO(pt_fclosep) FILE *file = fopen(pt_str_text(&path), "re");
    char buffer[16384];
    for (size_t got; file && ret->n < MOST_SUMMARY_BYTES && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        pt_str_bytes(ret, buffer, got);
    return file && !ferror(file) ? 0 : pt_fail(err, "cannot read %s: %s", pt_str_text(&path), strerror(errno));
}

int pt_github_step_summary(const char *run_dir, struct pt_error *err)
{
    const char *summary = getenv("GITHUB_STEP_SUMMARY");
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!summary || !*summary)
        return 0;
    if (read_report(run_dir, &text, err) < 0)
        return -1;
    FILE *to = fopen(summary, "ae");
    bool failed = !to || fwrite(pt_str_text(&text), 1, text.n, to) != text.n;
    failed |= to && fclose(to) != 0;
    return failed ? pt_fail(err, "cannot write the step's summary %s: %s", summary, strerror(errno)) : 0;
}
