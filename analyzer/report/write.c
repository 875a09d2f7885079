/* SPDX-License-Identifier: MIT
 *
 * Owns: writing reports to files. Threads: one. Never: leaves half a report behind:
 * files are written beside and renamed.
 */
#include "write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/svg/chart_axis.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "github.h"
#include "medium.h"

enum { HEADLINES = 3 };

static int write_to_stdout(const struct pt_str *text, struct pt_error *err)
{
    if (fwrite(pt_str_text(text), 1, text->n, stdout) != text->n || fflush(stdout))
        return pt_fail(err, "cannot write to stdout: %s", strerror(errno));
    return 0;
}

int pt_report_write_text(const char *path, const struct pt_str *text, struct pt_error *err)
{
    if (!path || !strcmp(path, "-"))
        return write_to_stdout(text, err);
    struct stat status;
    const bool is_special = !stat(path, &status) && !S_ISREG(status.st_mode);
    PT_AUTO(pt_str_fini) struct pt_str beside = {0};
    pt_str_printf(&beside, is_special ? "%s" : "%s.part", path);
    FILE *file = fopen(pt_str_text(&beside), "we");
    if (!file)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    bool failed = fwrite(pt_str_text(text), 1, text->n, file) != text->n;
    failed |= fclose(file) != 0;
    if (!failed && !is_special)
        failed = rename(pt_str_text(&beside), path) != 0;
    if (!failed)
        return 0;
    const int why = errno;
    if (!is_special)
        unlink(pt_str_text(&beside));
    return pt_fail(err, "cannot write %s: %s", path, strerror(why));
}

static int write_one(const struct pt_doc *doc, const struct pt_renderer *renderer, const char *run_dir,
                     struct pt_error *err)
{
    const struct pt_render_options options = {.width = 100, .utf8 = true};
    PT_AUTO(pt_str_fini) struct pt_str path = {0};
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_printf(&path, "%s/%s", run_dir, renderer->file_name);
    renderer->render(doc, &options, &text);
    return pt_report_write_text(pt_str_text(&path), &text, err);
}

/* Of a pipeline each names its stage: two stages may have the same trouble. */
static void add_headlines(const struct pt_profile *profile, const struct pt_findings *findings, struct pt_str *ret)
{
    for (size_t i = 0; i < findings->n && i < HEADLINES; i++) {
        const struct pt_finding *finding = &findings->items[i];
        pt_str_printf(ret, "  %zu. ", i + 1);
        if (finding->gain_upper_s > 0)
            pt_str_printf(ret, "up to %s (%.0f %%)  ", pt_fmt_duration((pt_i64)(finding->gain_upper_s * 1e9)).text,
                          finding->gain_upper_percent);
        if (profile->run && profile->run->is_pipeline && finding->stage >= 0) {
            pt_sanitize_terminal(ret, profile->stages.items[finding->stage].name);
            pt_str_add(ret, ": ");
        }
        pt_str_printf(ret, "%s\n", finding->title);
    }
}

/* A terminal is not in the run directory: whole paths of logs. */
static void name_logs(struct pt_doc *doc, const char *run_dir)
{
    const struct pt_node *failures = pt_node_child(doc->root, "failures");
    for (const struct pt_node *item = failures ? failures->first : NULL; item; item = item->next)
        for (struct pt_node *node = item->first; node; node = node->next) {
            PT_AUTO(pt_str_fini) struct pt_str path = {0};
            if (!node->key || strcmp(node->key, "log") || node->value.type != PT_VALUE_TEXT)
                continue;
            pt_str_printf(&path, "%s/%s", run_dir, node->value.text);
            node->value = pt_text(pt_arena_text(&doc->arena, pt_str_text(&path), path.n));
        }
}

/* The parts of the document that answer "did it work, and if not, why?". */
static void add_summary(struct pt_doc *doc, const char *run_dir, struct pt_str *ret)
{
    static const char *const keys[] = {"stages", "quality_shown", "failures", "skipped_shown"};
    const struct pt_render_options medium = pt_medium_of_stderr();
    name_logs(doc, run_dir);
    for (const struct pt_node *node = doc->root->first; node; node = node->next) {
        bool wanted = false;
        for (size_t i = 0; node->key && i < sizeof keys / sizeof *keys; i++)
            wanted |= !strcmp(node->key, keys[i]);
        struct pt_node alone = *node;
        alone.next = NULL;
        if (wanted)
            pt_render_text_nodes(&alone, &medium, ret);
    }
}

static void add_shown(struct pt_doc *doc, const struct pt_report *report, const char *run_dir,
                      const struct pt_written *written)
{
    if (written->headlines)
        add_headlines(&report->profile, &report->findings, written->headlines);
    if (written->summary)
        add_summary(doc, run_dir, written->summary);
    if (written->annotations)
        pt_github_annotations(doc, written->annotations);
}

int pt_write_reports(const char *run_dir, const struct pt_written *written, struct pt_error *err)
{
    const struct pt_report_options options = {.top = 20};
    struct pt_report report = {0};
    const mode_t before = umask(077); /* a run directory is private: paths and arguments are in its reports */
    int result = pt_report_open(run_dir, &report, err);
    if (!result) {
        PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report.profile, &report.findings, &options);
        for (const struct pt_renderer *renderer = pt_renderers; renderer->name && !result; renderer++)
            if (renderer->file_name)
                result = write_one(doc, renderer, run_dir, err);
        if (!result)
            result = pt_chart_write_files(doc, run_dir, err);
        add_shown(doc, &report, run_dir, written);
    }
    pt_report_close(&report);
    umask(before);
    return result;
}
