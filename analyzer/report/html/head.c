/* SPDX-License-Identifier: MIT
 *
 * Owns: the top of the page: what ran, the figures that matter most, how far the trace can be trusted. Threads: any.
 * Never: hides what was lost.
 */
#include <math.h>

#include "report/svg/svg.h"
#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "html.h"

/* ---- what ran ---- */

static void put_title(struct pt_str *out, const struct pt_node *root)
{
    const char *dataset = pt_html_child_text(root, "dataset");
    const struct pt_node *stages = pt_node_child(root, "stages");
    const struct pt_node *only = stages && stages->first && !stages->first->next ? stages->first : NULL;
    const double epochs = pt_html_number(root, "train_epochs");
    if (only && !dataset) {
        pt_str_add(out, "Profile of ");
        pt_html_value(out, pt_node_child(only, "stage"));
        return;
    }
    pt_str_add(out, "Pipeline profile");
    if (dataset) {
        pt_str_add(out, ": ");
        pt_html_text(out, dataset);
    }
    if (isfinite(epochs))
        pt_str_printf(out, ", %.0f epochs", epochs);
}

static void put_fact(struct pt_str *out, const char *label, const char *text)
{
    if (!text)
        return;
    pt_str_printf(out, "<div><dt>%s</dt><dd>", label);
    pt_html_text(out, text);
    pt_str_add(out, "</dd></div>");
}

/* Of a single command; those of a pipeline stand with its stages. */
static void put_command(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *stages = pt_node_child(root, "stages"), *only = stages ? stages->first : NULL;
    const struct pt_node *command = only && !only->next ? pt_node_child(only, "command") : NULL;
    if (!command || !command->first)
        return;
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    for (const struct pt_node *word = command->first; word; word = word->next)
        pt_str_printf(&line, "%s%s", line.n ? " " : "", word->value.type == PT_VALUE_TEXT ? word->value.text : "?");
    put_fact(out, "Command", pt_str_text(&line));
}

/* 2026-11-20T12:00:00Z, for people. */
static void put_instant(struct pt_str *out, const char *iso)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    for (; *iso; iso++)
        pt_str_add(&text, *iso == 'T' ? " " : *iso == 'Z' ? " UTC" : (char[]){*iso, 0});
    pt_html_text(out, pt_str_text(&text));
}

void pt_html_header(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *processes = pt_node_child(root, "processes");
    pt_str_add(out, "<header><h1>");
    put_title(out, root);
    pt_str_add(out, "</h1><dl class=\"meta\">");
    for (const struct pt_node *node = root->first; node; node = node->next) {
        if (node->kind != PT_NODE_VALUE || !node->label)
            continue;
        pt_str_add(out, "<div><dt>");
        pt_html_text(out, node->label);
        pt_str_add(out, "</dt><dd>");
        if (pt_html_is(node, "timestamp_utc") && node->value.type == PT_VALUE_TEXT)
            put_instant(out, node->value.text);
        else
            pt_html_value(out, node);
        pt_str_add(out, "</dd></div>");
    }
    put_command(out, root);
    if (!pt_node_child(root, "host") && processes)
        put_fact(out, "Host", pt_html_child_text(processes->first, "host"));
    put_fact(out, "Tool", pt_html_child_text(root, "tool"));
    pt_str_add(out, "</dl></header>");
}

/* ---- cards ---- */

static void open_card(struct pt_str *out, const char *label)
{
    pt_str_printf(out, "<li><span>%s</span><b>", label);
}

static void middle_card(struct pt_str *out)
{
    pt_str_add(out, "</b><span>");
}

static void close_card(struct pt_str *out)
{
    pt_str_add(out, "</span></li>");
}

/* The stage with the most of something; NULL when no stage has a number. */
static const struct pt_node *top_stage(const struct pt_node *stages, const char *key)
{
    const struct pt_node *top = NULL;
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
        const double number = pt_html_number(stage, key);
        if (isfinite(number) && (!top || number > pt_html_number(top, key)))
            top = stage;
    }
    return top;
}

static void put_wall_card(struct pt_str *out, const struct pt_node *root, const struct pt_node *stages)
{
    static const char *const statuses[] = {"ok", "failed", "timeout", "skipped"};
    const char *before = "";
    open_card(out, "Wall time");
    pt_html_value(out, pt_node_child(root, "total_duration_s"));
    middle_card(out);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        pt_u32 n = 0;
        for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
            const char *status = pt_html_child_text(stage, "status");
            n += status && !strcmp(status, statuses[i]);
        }
        if (!n)
            continue;
        pt_str_printf(out, "%s%u %s", before, n, statuses[i]);
        before = ", ";
    }
    close_card(out);
}

static void put_slowest_card(struct pt_str *out, const struct pt_node *root, const struct pt_node *stages)
{
    const struct pt_node *slowest = top_stage(stages, "duration_s");
    open_card(out, "Slowest stage");
    pt_html_value(out, slowest ? pt_node_child(slowest, "stage") : NULL);
    middle_card(out);
    if (slowest) {
        pt_html_value(out, pt_node_child(slowest, "duration_s"));
        pt_str_printf(
            out, ", %s of the run",
            pt_svg_percent(pt_html_number(slowest, "duration_s"), pt_html_number(root, "total_duration_s")).text);
    }
    close_card(out);
}

/* The largest of a value over the stages and where it was; else why nobody knows. */
static void put_top_card(struct pt_str *out, const struct pt_node *stages, const char *label, const char *key)
{
    const struct pt_node *top = top_stage(stages, key);
    /* Unknown everywhere: the longest stage had most time to find out why. */
    const struct pt_node *longest = top_stage(stages, "duration_s");
    const struct pt_node *value = pt_node_child(top ? top : longest ? longest : stages->first, key);
    open_card(out, label);
    pt_html_value(out, value);
    middle_card(out);
    if (top) {
        pt_str_add(out, "in ");
        pt_html_value(out, pt_node_child(top, "stage"));
    } else {
        pt_html_text(out, value && value->value.reason ? value->value.reason : "unknown");
    }
    close_card(out);
}

/* Without NVML the processes' own records tell: of the GPU that was busiest. */
static void put_gpu_card(struct pt_str *out, const struct pt_node *stages)
{
    const struct pt_node *top = NULL, *of = NULL;
    for (const struct pt_node *stage = stages->first; stage; stage = stage->next) {
        const struct pt_node *gpu = pt_node_child(stage, "gpu"), *devices = gpu ? pt_node_child(gpu, "devices") : NULL;
        for (const struct pt_node *device = devices ? devices->first : NULL; device; device = device->next) {
            const double busy = pt_html_number(device, "busy_of_stage_percent");
            if (isfinite(busy) && (!top || busy > pt_html_number(top, "busy_of_stage_percent"))) {
                top = device;
                of = stage;
            }
        }
    }
    if (!top || top_stage(stages, "gpu_util_percent_avg")) {
        put_top_card(out, stages, "GPU busy", "gpu_util_percent_avg");
        return;
    }
    open_card(out, "GPU busy");
    pt_html_value(out, pt_node_child(top, "busy_of_stage_percent"));
    middle_card(out);
    pt_str_add(out, "in ");
    pt_html_value(out, pt_node_child(of, "stage"));
    pt_str_add(out, ", by its own records");
    close_card(out);
}

static void put_findings_card(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *findings = pt_node_child(root, "findings");
    pt_u32 n = 0;
    for (const struct pt_node *item = findings ? findings->first : NULL; item; item = item->next)
        n++;
    open_card(out, "Findings");
    pt_str_printf(out, "%u", n);
    middle_card(out);
    const double gain_s = n ? pt_html_number(findings->first, "gain_upper_s") : NAN;
    if (gain_s > 0)
        pt_str_printf(out, "largest: up to %s", pt_fmt_duration((int64_t)llround(gain_s * 1e9)).text);
    else
        pt_str_add(out, n ? "none costs measured time" : "nothing above the limits");
    close_card(out);
}

static double lost_events(const struct pt_node *quality)
{
    static const char *const keys[] = {"overwritten", "dropped", "corrupt"};
    double lost = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const double number = pt_html_number(quality, keys[i]);
        lost += isfinite(number) ? number : 0;
    }
    return lost;
}

static void put_lost_card(struct pt_str *out, const struct pt_node *quality)
{
    const double events = pt_html_number(quality, "events");
    open_card(out, "Events lost");
    pt_str_add(out, pt_fmt_count((uint64_t)lost_events(quality)).text);
    middle_card(out);
    pt_str_printf(out, "%s recorded", pt_fmt_count(events > 0 ? (uint64_t)events : 0).text);
    close_card(out);
}

static void put_cards(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *stages = pt_node_child(root, "stages");
    const struct pt_node *quality = pt_node_child(root, "trace_quality");
    if (!stages)
        return;
    pt_str_add(out, "<ul class=\"cards\">");
    put_wall_card(out, root, stages);
    if (stages->first && stages->first->next)
        put_slowest_card(out, root, stages);
    else
        put_top_card(out, stages, "CPU, mean", "cpu_percent_avg");
    put_top_card(out, stages, "Peak memory", "rss_mb_max");
    put_gpu_card(out, stages);
    put_findings_card(out, root);
    if (quality)
        put_lost_card(out, quality);
    pt_str_add(out, "</ul>\n");
}

/* ---- how far it can be trusted ---- */

static void put_counts(struct pt_str *out, const struct pt_node *quality)
{
    pt_u32 n = 0;
    pt_str_add(out, "<p>");
    for (const struct pt_node *node = quality->first; node; node = node->next) {
        if (node->kind != PT_NODE_VALUE || !node->label)
            continue;
        pt_str_add(out, n++ ? "; " : "");
        pt_html_text(out, node->label);
        pt_str_add(out, " <b>");
        pt_html_value_and_reason(out, node);
        pt_str_add(out, "</b>");
    }
    pt_str_add(out, ".</p>");
}

void pt_html_trace_quality(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *quality = pt_node_child(root, "trace_quality");
    put_cards(out, root);
    if (!quality)
        return;
    const bool cut = pt_html_number(quality, "cut_files") > 0;
    const bool lost = lost_events(quality) > 0 || cut, untraced = pt_html_number(quality, "untraced") > 0;
    const bool is_empty = !(pt_html_number(quality, "processes") > 0);
    pt_str_printf(out, "<section class=\"box %s\" id=\"quality\"><h2>Trace quality: ",
                  is_empty           ? "bad"
                  : lost || untraced ? "warn"
                                     : "good");
    pt_str_add(out, is_empty           ? "nothing was captured"
                    : cut              ? "trace files are cut short"
                    : lost && untraced ? "events were lost, programs are missing"
                    : lost             ? "events were lost"
                    : untraced         ? "programs are missing"
                                       : "complete");
    pt_str_add(out, "</h2>");
    put_counts(out, quality);
    for (const struct pt_node *node = quality->first; node; node = node->next)
        if (node->kind == PT_NODE_LIST && node->label && node->first)
            pt_html_body(out, node);
    pt_str_add(out, "</section>\n");
}
