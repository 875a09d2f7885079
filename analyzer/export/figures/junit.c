/* SPDX-License-Identifier: MIT
 *
 * junit.c - the stages of a run as test cases for CI systems, in the form of Ant's JUnit task, which all of them read.
 *
 * A stage that failed or ran into its timeout is a failure with the end of its log, a skipped or still running one is
 * skipped; a floor of the pipeline's quality is a test case, too. Findings fail nothing (`proftrace check` is the
 * gate): they are the output of the suite.
 *
 * Owns: the text. One thread. Never: writes a character that XML has not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/judged.h"
#include "report/grades.h"
#include "report/log_tail.h"
#include "report/outcome.h"
#include "util/str.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/whole.h"

struct suite {
    struct pt_str cases, output;
    struct pt_judged_run *judged;
    pt_u32 tests, failures, skipped;
};

/* Names are tokens: XML drops spaces around them and joins those within, so that two could be equal. */
static void put_case(struct suite *suite, const char *class, const char *name, double seconds)
{
    suite->tests++;
    pt_str_printf(&suite->cases, "  <testcase classname=\"proftrace.%s\" name=\"", class);
    pt_sanitize_html(&suite->cases, *name ? name : "(unnamed)");
    pt_str_printf(&suite->cases, "\" time=\"%.6f\">", seconds > 0 ? seconds : 0);
}

static void put_failure(struct suite *suite, const char *type, const char *message)
{
    suite->failures++;
    pt_str_printf(&suite->cases, "\n    <failure type=\"%s\" message=\"", type);
    pt_sanitize_html(&suite->cases, message);
    pt_str_add(&suite->cases, "\">");
}

static const char *text_of(struct pt_value value, const char *otherwise)
{
    return value.type == PT_VALUE_TEXT && *value.text ? value.text : otherwise;
}

static void put_stage(struct suite *suite, pt_u32 stage)
{
    struct pt_judged_run *judged = suite->judged;
    const struct pt_profile *profile = &judged->profile;
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const char *status = pt_report_stage_status(profile, stage, &judged->arena);
    const struct pt_value duration = pt_report_stage_duration(profile, stage);
    put_case(suite, "stages", profile->stages.items[stage].name,
             duration.type == PT_VALUE_UNKNOWN ? 0 : pt_value_number(duration));
    if (pt_status_is_bad(status)) {
        const struct pt_log_tail tail = pt_log_tail(profile->session->path, run ? run->log : NULL, &judged->arena);
        put_failure(suite, status,
                    text_of(pt_report_stage_reason(profile, stage, &judged->arena),
                            text_of(pt_report_stage_exit(profile, stage, &judged->arena), status)));
        for (unsigned i = 0; i < tail.n; i++) {
            pt_sanitize_html(&suite->cases, tail.lines[i]);
            pt_str_char(&suite->cases, '\n');
        }
        pt_str_add(&suite->cases, "</failure>\n  ");
    } else if (strcmp(status, "ok") != 0) {
        suite->skipped++;
        pt_str_add(&suite->cases, "<skipped/>");
    }
    pt_str_add(&suite->cases, "</testcase>\n");
}

static void put_floors(struct suite *suite)
{
    struct pt_grade_list grades = {0};
    pt_grade_list(&suite->judged->profile, &grades);
    for (size_t i = 0; i < grades.n; i++) {
        const struct pt_grade *grade = &grades.items[i];
        if (__builtin_isnan(grade->min))
            continue;
        put_case(suite, "quality", grade->key, 0);
        if (pt_grade_is_broken(grade)) {
            char message[120] = "not known";
            if (grade->value.type != PT_VALUE_UNKNOWN)
                snprintf(message, sizeof message, "%g is below %g", pt_value_number(grade->value), grade->min);
            put_failure(suite, "quality", message);
            pt_str_add(&suite->cases, "</failure>\n  ");
        }
        pt_str_add(&suite->cases, "</testcase>\n");
    }
    free(grades.items);
}

static void put_finding(struct suite *suite, const struct pt_finding *finding)
{
    const struct pt_stage *stages = suite->judged->profile.stages.items;
    if (finding->stage >= 0) {
        pt_sanitize_html(&suite->output, stages[finding->stage].name);
        pt_str_add(&suite->output, ": ");
    }
    pt_sanitize_html(&suite->output, finding->title);
    if (finding->gain_upper_s > 0)
        pt_str_printf(&suite->output, " (up to %s)",
                      pt_fmt_duration(pt_whole_signed(finding->gain_upper_s * 1e9)).text);
    if (finding->place.text) {
        pt_str_add(&suite->output, " in ");
        pt_sanitize_html(&suite->output, finding->place.text);
    }
    pt_str_add(&suite->output, ". ");
    pt_sanitize_html(&suite->output, pt_finding_try(finding));
    pt_str_char(&suite->output, '\n');
}

static void put_property(struct pt_str *out, const char *name, const char *value)
{
    pt_str_printf(out, "    <property name=\"%s\" value=\"", name);
    pt_sanitize_html(out, value);
    pt_str_add(out, "\"/>\n");
}

static void put_suite(struct suite *suite, struct pt_str *out)
{
    const struct pt_profile *profile = &suite->judged->profile;
    const struct pt_value started = pt_report_started(profile, &suite->judged->arena);
    const struct pt_value duration = pt_report_duration(profile);
    const char *host = profile->run && profile->run->host ? profile->run->host : "localhost";
    pt_str_add(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite id=\"0\" package=\"proftrace\" name=\"");
    pt_sanitize_html(out, profile->session->name);
    /* The form knows no time zone. */
    pt_str_printf(out, "\" timestamp=\"%.19s\" hostname=\"", text_of(started, "1970-01-01T00:00:00"));
    pt_sanitize_html(out, *host ? host : "localhost");
    pt_str_printf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.6f\">\n  <properties>\n",
                  suite->tests, suite->failures, suite->skipped,
                  duration.type == PT_VALUE_UNKNOWN ? 0 : pt_value_number(duration));
    put_property(out, "tool", "proftrace " PROFTRACE_VERSION);
    put_property(out, "run", profile->session->path);
    pt_str_printf(out,
                  "  </properties>\n%s  <system-out>%s</system-out>\n  <system-err/>\n</testsuite>\n</testsuites>\n",
                  pt_str_text(&suite->cases), pt_str_text(&suite->output));
}

static void fill(struct suite *suite, const char *only)
{
    const struct pt_judged_run *judged = suite->judged;
    for (pt_u32 i = 0; i < judged->profile.stages.n; i++)
        if (pt_judged_run_wants(judged, only, i))
            put_stage(suite, i);
    put_floors(suite);
    for (size_t i = 0; i < judged->findings.n; i++) {
        const struct pt_finding *finding = &judged->findings.items[i];
        if (!finding->is_observation &&
            (finding->stage < 0 || pt_judged_run_wants(judged, only, (pt_u32)finding->stage)))
            put_finding(suite, finding);
    }
}

int pt_export_junit(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                    struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct pt_judged_run judged = {0};
    struct suite suite = {.judged = &judged};
    struct pt_str out = {0};
    *ret_summary = (struct pt_export_summary){.processes = session->n_processes};
    int result = pt_judged_run_open(&judged, session, options->since_ns, err);
    if (!result)
        result = pt_judged_run_need_stage(&judged, options->filter.stage, err);
    if (!result) {
        fill(&suite, options->filter.stage);
        put_suite(&suite, &out);
        pt_sink_put(sink, pt_str_text(&out), out.n);
    }
    pt_str_fini(&out);
    pt_str_fini(&suite.cases);
    pt_str_fini(&suite.output);
    pt_judged_run_close(&judged);
    return result;
}
