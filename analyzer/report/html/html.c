/* SPDX-License-Identifier: MIT
 *
 * Owns: report.html as a whole: one file that needs no network, no script and no other file. Threads: any. Never:
 * leaves out a part of the document that has a label: what no section claims is shown at the end.
 */
#include "html.h"

#include <math.h>

#include "report/render.h"
#include "report/svg/svg.h"
#include "util/auto.h"
#include "util/sha256.h"
#include "util/text/fmt.h"

enum section { TIME, GPU, CPU, FINDINGS, STAGES, RESOURCES, IO, MEMORY, RANGES, PROCESSES, GRADES, MORE, SECTIONS };

static const struct {
    const char *id, *label;
} sections[SECTIONS] = {
    [TIME] = {"time", "Where the time went"},
    [GPU] = {"gpu", "GPU"},
    [CPU] = {"cpu", "CPU"},
    [FINDINGS] = {"findings", "Findings"},
    [STAGES] = {"stages", "Stages"},
    [RESOURCES] = {"resources", "Resources"},
    [IO] = {"io", "Files and calls"},
    [MEMORY] = {"memory", "Memory"},
    [RANGES] = {"ranges", "Ranges"},
    [PROCESSES] = {"processes", "Processes"},
    [GRADES] = {"grades", "Quality metrics"},
    [MORE] = {"more", "More"},
};

/* Which section shows a part of the document. */
static const struct {
    const char *key;
    enum section section;
} places[] = {
    {"time_account", TIME},
    {"thread_time", TIME},
    {"waits", TIME},
    {"worker_use", TIME},
    {"commands", TIME},
    {"locks", TIME},
    {"signals", TIME},
    {"barriers", TIME},
    {"gil", TIME},
    {"sleeps", TIME},
    {"cpu_functions", CPU},
    {"off_cpu_stacks", TIME},
    {"findings", FINDINGS},
    {"no_findings", FINDINGS},
    {"stages", STAGES},
    {"files", IO},
    {"file_groups", IO},
    {"directories", IO},
    {"io_sizes", IO},
    {"small_writes", IO},
    {"storage_waits", IO},
    {"hosts", IO},
    {"names", IO},
    {"calls", IO},
    {"heap", MEMORY},
    {"heap_sites", MEMORY},
    {"ranges", RANGES},
    {"processes_shown", PROCESSES},
    {"workers", PROCESSES},
    {"alerts", RESOURCES},
    {"resources_shown", RESOURCES},
    {"untraced_shown", PROCESSES},
    {"quality_metrics", GRADES},
    {"quality_shown", GRADES},
};

static enum section section_of(const struct pt_node *node)
{
    if (node->kind == PT_NODE_CHART)
        return RESOURCES;
    if (node->kind == PT_NODE_FLAME)
        return CPU;
    if (node->key && !strncmp(node->key, "gpu_", 4))
        return GPU;
    for (size_t i = 0; node->key && i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].key, node->key))
            return places[i].section;
    return MORE;
}

/* Whether a section shows this node at all. */
static bool is_shown(const struct pt_node *node)
{
    if (node->kind == PT_NODE_VALUE || !node->label || pt_html_is(node, "trace_quality") ||
        pt_html_is(node, "failures") || pt_html_is(node, "skipped_shown")) /* stages tell that themselves */
        return false;
    return node->kind == PT_NODE_CHART || node->kind == PT_NODE_FLAME || node->first;
}

static bool has_section(const struct pt_node *root, enum section section)
{
    for (const struct pt_node *node = root->first; node; node = node->next)
        if (is_shown(node) && section_of(node) == section)
            return true;
    return section == TIME && has_section(root, STAGES);
}

/* ---- sections ---- */

/* With one stage only, its main tables are open at once. */
static bool is_worth_opening(const struct pt_node *node)
{
    if (node->kind == PT_NODE_FLAME)
        return true;
    static const char *const keys[] = {"calls",  "files",       "cpu_functions",   "heap",       "heap_sites",
                                       "ranges", "gpu_devices", "gpu_idle_causes", "gpu_kernels"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (pt_html_is(node, keys[i]))
            return true;
    return false;
}

static void put_row_count(struct pt_str *out, const struct pt_node *node)
{
    pt_u64 n = node->rows_left_out;
    for (const struct pt_node *item = node->first; item; item = item->next)
        n++;
    if (node->kind == PT_NODE_LIST)
        pt_str_printf(out, " <span class=\"dim\">(%s)</span>", pt_fmt_count(n).text);
}

static void put_broken_floors(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *broken = pt_node_child(root, "quality_floors_broken");
    for (const struct pt_node *item = broken ? broken->first : NULL; item; item = item->next) {
        pt_str_add(out, "<p>");
        pt_html_badge(out, "failed");
        pt_str_char(out, ' ');
        pt_html_value(out, pt_node_child(item, "key"));
        pt_str_add(out, " is ");
        pt_html_value_and_reason(out, pt_node_child(item, "value"));
        pt_str_add(out, ", must be at least ");
        pt_html_value(out, pt_node_child(item, "min"));
        pt_str_add(out, "</p>");
    }
}

/* The name of the stage that a label begins with, "train: Files"; NULL = none. */
static const char *stage_of(const struct pt_node *root, const char *label)
{
    const struct pt_node *stages = pt_node_child(root, "stages");
    for (const struct pt_node *stage = stages ? stages->first : NULL; stage; stage = stage->next) {
        const char *name = pt_html_child_text(stage, "stage");
        const size_t n = name ? strlen(name) : 0;
        if (n && !strncmp(label, name, n) && label[n] == ':' && label[n + 1] == ' ')
            return name;
    }
    return NULL;
}

static void put_fold(struct pt_str *out, const struct pt_node *node, bool is_open)
{
    pt_str_add(out, is_open ? "<details open=\"open\"><summary>" : "<details><summary>");
    pt_html_text(out, node->label);
    put_row_count(out, node);
    pt_str_add(out, "</summary>");
    pt_html_body(out, node);
    pt_str_add(out, "</details>\n");
}

static void put_titled(struct pt_str *out, const struct pt_node *node, const char *title)
{
    if (node->kind == PT_NODE_LIST && node->layout == PT_LAYOUT_TABLE) {
        pt_html_table(out, node, title);
        return;
    }
    pt_str_add(out, "<h3>");
    pt_html_text(out, title);
    pt_str_add(out, "</h3>");
    pt_html_body(out, node);
}

/* The details of one stage make a page or two, those of all a book. */
static void put_paper_note(struct pt_str *out, const char *longest, pt_u32 left_out)
{
    if (!left_out)
        return;
    pt_str_add(out, "<p class=\"note paper\">Details are those of ");
    pt_html_text(out, longest);
    pt_str_printf(out, ", which took longest. The page on a screen has those of %u other %s, too.</p>\n", left_out,
                  left_out == 1 ? "stage" : "stages");
}

static void put_stage_fold(struct pt_str *out, const char *stage, bool is_open, bool on_paper)
{
    pt_str_printf(out, "<details class=\"stage%s\"%s><summary>", on_paper ? "" : " np",
                  is_open ? " open=\"open\"" : "");
    pt_html_text(out, stage);
    pt_str_add(out, "</summary>");
}

/* A part that a section shows in its own way is left to it. Of the rest, details are folded, those of a stage into one.
 */
static void put_rest(struct pt_str *out, const struct pt_node *root, enum section section)
{
    const struct pt_node *stages = pt_node_child(root, "stages");
    const bool is_short = !stages || !stages->first || !stages->first->next;
    const struct pt_node *longest = pt_html_longest_stage(stages);
    const char *open_stage = NULL, *on_paper = longest ? pt_html_child_text(longest, "stage") : NULL;
    pt_u32 not_on_paper = 0;
    for (const struct pt_node *node = root->first; node; node = node->next) {
        if (!is_shown(node) || section_of(node) != section || node->kind == PT_NODE_CHART ||
            pt_html_is(node, "time_account") || pt_html_is(node, "stages"))
            continue;
        const char *stage = node->is_detail && !is_short ? stage_of(root, node->label) : NULL;
        if (open_stage && stage != open_stage)
            pt_str_add(out, "</details>\n");
        if (stage && stage != open_stage) {
            const bool is_printed = !on_paper || !strcmp(stage, on_paper);
            put_stage_fold(out, stage, node->kind == PT_NODE_FLAME && node->flame->is_largest, is_printed);
            not_on_paper += !is_printed;
        }
        open_stage = stage;
        if (stage)
            put_titled(out, node, node->label + strlen(stage) + 2);
        else if (node->is_detail)
            put_fold(out, node, is_short && is_worth_opening(node));
        else if (section == FINDINGS || section == GRADES)
            pt_html_body(out, node);
        else
            put_titled(out, node, node->label);
    }
    pt_str_add(out, open_stage ? "</details>\n" : "");
    put_paper_note(out, on_paper, not_on_paper);
}

static bool has_charts(const struct pt_node *root)
{
    for (const struct pt_node *node = root->first; node; node = node->next)
        if (node->kind == PT_NODE_CHART)
            return true;
    return false;
}

static void put_section(struct pt_str *out, const struct pt_node *root, enum section section)
{
    const struct pt_node *stages = pt_node_child(root, "stages");
    pt_str_printf(out, "<section id=\"%s\"><h2>%s</h2>", sections[section].id, sections[section].label);
    if (section == TIME)
        pt_html_time(out, stages, pt_node_child(root, "time_account"));
    if (section == GPU)
        pt_html_gpu(out, pt_node_child(root, "gpu_bars"));
    if (section == FINDINGS)
        pt_str_add(out, "<p class=\"note\">Largest possible gain first. Gains are upper bounds; they may overlap.</p>");
    if (section == STAGES)
        pt_html_stages(out, stages, pt_html_number(root, "total_duration_s"));
    if (section == RESOURCES && has_charts(root))
        pt_html_charts(out, root);
    if (section == GRADES)
        put_broken_floors(out, root);
    put_rest(out, root, section);
    pt_str_add(out, "</section>\n");
}

static void put_nav(struct pt_str *out, const struct pt_node *root)
{
    pt_str_add(out, "<nav aria-label=\"Sections\">");
    for (enum section section = 0; section < SECTIONS; section++)
        if (has_section(root, section))
            pt_str_printf(out, "<a href=\"#%s\">%s</a>", sections[section].id, sections[section].label);
    pt_str_add(out, "<a href=\"#timeline\">Timeline</a></nav>");
}

static void put_failures(struct pt_str *out, const struct pt_node *root)
{
    const struct pt_node *failures = pt_node_child(root, "failures");
    if (!failures || !failures->first)
        return;
    pt_str_add(out, "<section id=\"failures\"><h2>Failures</h2>");
    pt_html_failures(out, failures, pt_node_child(root, "stages"));
    pt_str_add(out, "</section>\n");
}

static void put_timeline(struct pt_str *out, const struct pt_node *root)
{
    const char *run = pt_html_child_text(root, "run");
    pt_str_add(out, "<section id=\"timeline\"><h2>Timeline</h2><p>Every call on a time axis, thread by thread: "
                    "<code>proftrace export RUN --to chrome -o trace.json.gz</code>, where RUN is the run directory");
    if (run) {
        pt_str_add(out, " <code>");
        pt_html_text(out, run);
        pt_str_add(out, "</code>");
    }
    pt_str_add(out, "; then open the file in Perfetto (ui.perfetto.dev), chrome://tracing or speedscope. report.json "
                    "beside this page has all numbers.</p></section>\n");
}

/* ---- the page ---- */

static void add_styles(struct pt_str *out)
{
    for (size_t i = 0; pt_svg_style[i]; i++)
        pt_str_printf(out, "%s\n", pt_svg_style[i]);
    for (size_t i = 0; pt_html_style[i]; i++)
        pt_str_printf(out, "%s\n", pt_html_style[i]);
}

/* Nothing is loaded, run, sent or restyled: not even by markup that got past the escaping. Only this style sheet
 * counts. */
static void put_policy(struct pt_str *out, const struct pt_str *styles)
{
    char hash[PT_SHA256_BASE64_SIZE];
    pt_sha256_base64(pt_str_text(styles), styles->n, hash);
    pt_str_printf(out,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
                  "base-uri 'none'; form-action 'none'\"/>\n",
                  hash);
}

static void put_page_title(struct pt_str *out, const struct pt_node *root)
{
    const char *run = pt_html_child_text(root, "run");
    pt_str_add(out, "<title>");
    pt_html_text(out, run ? run : "run");
    pt_str_add(out, " - proftrace report</title>");
}

void pt_render_html(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    const struct pt_node *root = doc->root;
    PT_AUTO(pt_str_fini) struct pt_str styles = {0};
    add_styles(&styles);
    pt_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n");
    put_policy(out, &styles);
    pt_str_add(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/><meta name=\"referrer\" "
                    "content=\"no-referrer\"/>\n");
    put_page_title(out, root);
    pt_str_printf(out, "<style>%s</style>\n", pt_str_text(&styles));
    pt_str_printf(out, "</head><body>\n<svg class=\"defs\" aria-hidden=\"true\">%s</svg>", pt_svg_patterns);
    pt_html_header(out, root);
    put_nav(out, root);
    pt_str_add(out, "<main>\n");
    pt_html_trace_quality(out, root);
    put_failures(out, root);
    for (enum section section = 0; section < SECTIONS; section++)
        if (has_section(root, section))
            put_section(out, root, section);
    put_timeline(out, root);
    pt_str_add(out, "</main><footer>");
    const char *tool = pt_html_child_text(root, "tool");
    pt_html_text(out, tool ? tool : "proftrace");
    pt_str_add(out,
               ". – means unknown; the reason is in its tooltip. MB and GB in report.md are binary, as MiB and GiB "
               "here.</footer>\n</body></html>\n");
}
