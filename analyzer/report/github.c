/* SPDX-License-Identifier: MIT
 *
 * Owns: the commands that GitHub Actions understands. Threads: any. Never: lets a recorded name end one command and
 * begin another.
 */
#include "github.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/show.h"
#include "util/auto.h"
#include "util/fd.h"
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
    size_t n = 0;
    for (; n < doc->failures.n && n < MOST_OF_A_KIND; n++) {
        const struct pt_doc_failure *failure = &doc->failures.items[n];
        PT_AUTO(pt_str_fini) struct pt_str title = {0};
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        const char *reason = pt_cell_text(failure->reason);
        pt_str_printf(&title, "stage %s", failure->stage ? failure->stage : "?");
        pt_str_add(&message, reason ? reason : "failed");
        put_annotation(out, "error", pt_str_text(&title), &message);
    }
    return n;
}

static void add_floors(const struct pt_doc *doc, size_t n, struct pt_str *out)
{
    for (size_t i = 0; i < doc->broken_floors.n && n < MOST_OF_A_KIND; i++, n++) {
        const struct pt_doc_floor *floor = &doc->broken_floors.items[i];
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        if (floor->value.value.type == PT_VALUE_UNKNOWN)
            pt_str_printf(&message, "is not known, so its floor of %g cannot be checked", floor->min);
        else
            pt_str_printf(&message, "%g is below its floor of %g", pt_cell_number(floor->value), floor->min);
        put_annotation(out, "error", floor->key, &message);
    }
}

static void add_findings(const struct pt_doc *doc, bool infos, struct pt_str *out)
{
    size_t n = 0;
    for (size_t i = 0; i < doc->findings.n && n < MOST_OF_A_KIND; i++) {
        const struct pt_doc_finding *finding = &doc->findings.items[i];
        const struct pt_finding *of = finding->of;
        const char *stage = finding->stage ? finding->stage->name : NULL;
        if ((of->severity == PT_SEVERITY_INFO) != infos)
            continue;
        PT_AUTO(pt_str_fini) struct pt_str message = {0};
        if (of->gain_upper_s > 0) {
            pt_str_add(&message, "up to ");
            pt_show_value(&message, pt_cell(PT_SHOW_SECONDS, pt_real(of->gain_upper_s)), PT_STYLE_COMPACT);
            pt_str_add(&message, ". ");
        }
        pt_str_add(&message, pt_finding_try(of));
        PT_AUTO(pt_str_fini) struct pt_str heading = {0};
        pt_str_printf(&heading, "%s%s%s", stage ? stage : "", stage ? ", " : "", of->title);
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

static int read_report(int run_fd, struct pt_str *ret, struct pt_error *err)
{
    PT_AUTO(pt_closep) int fd = openat(run_fd, "report.md", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || (pt_fd_read_all(fd, MOST_SUMMARY_BYTES, ret) < 0 && errno != EFBIG))
        return pt_fail(err, "cannot read report.md: %s", strerror(errno));
    return 0;
}

int pt_github_step_summary(int run_fd, const char *more, struct pt_error *err)
{
    const char *summary = getenv("GITHUB_STEP_SUMMARY");
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (!summary || !*summary)
        return 0;
    if (read_report(run_fd, &text, err) < 0)
        return -1;
    if (more && *more && text.n + strlen(more) < MOST_SUMMARY_BYTES)
        pt_str_printf(&text, "\n%s", more);
    FILE *to = fopen(summary, "ae");
    bool failed = !to || fwrite(pt_str_text(&text), 1, text.n, to) != text.n;
    failed |= to && fclose(to) != 0;
    return failed ? pt_fail(err, "cannot write the step's summary %s: %s", summary, strerror(errno)) : 0;
}
