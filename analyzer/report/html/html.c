/* SPDX-License-Identifier: MIT
 *
 * Owns: report.html as a whole: one file that needs no network, no script and no other file. The verdict and the
 * findings come first, then each stage with everything about it, then the run. Threads: any. Never: leaves out a panel
 * of the document.
 */
#include "report/render.h"
#include "report/svg/style.h"
#include "report/svg/svg.h"
#include "finding.h"
#include "head.h"
#include "panel.h"
#include "run.h"
#include "stage.h"
#include "value.h"

/* Each stage is one click away; of very many the overview has the links. */
static void put_nav(struct pt_str *out, const struct pt_doc *doc)
{
    enum { MOST_STAGES = 24 };
    pt_str_add(out, "<nav aria-label=\"Sections\">");
    if (doc->failures.n)
        pt_str_add(out, "<a href=\"#failures\">Failures</a>");
    pt_str_add(out, "<a href=\"#findings\">Findings</a>");
    if (doc->stages.n)
        pt_str_add(out, "<a href=\"#stages\">Stages</a>");
    for (size_t i = 0; i < doc->stages.n && i < MOST_STAGES; i++) {
        pt_str_printf(out, "<a href=\"#stage-%u\">", doc->stages.items[i]->index);
        pt_html_text(out, doc->stages.items[i]->name);
        pt_str_add(out, "</a>");
    }
    pt_str_add(
        out, "<a href=\"#run\">Run</a><a href=\"#quality\">Trace quality</a><a href=\"#commands\">Commands</a></nav>");
}

/* Nothing is loaded, run, sent or restyled: not even by markup that got past the escaping. Only this style sheet
 * counts. */
static void put_head(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n");
    pt_str_printf(out,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
                  "base-uri 'none'; form-action 'none'\"/>\n",
                  pt_page_style_sha256);
    pt_str_add(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/><meta name=\"referrer\" "
                    "content=\"no-referrer\"/>\n<title>");
    pt_html_text(out, doc->title ? doc->title : doc->run ? doc->run : "run");
    pt_str_printf(out, " - proftrace%s</title><style>%s%s</style>\n</head>", doc->title ? "" : " report", pt_svg_style,
                  pt_page_style);
}

void pt_render_html(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    put_head(out, doc);
    pt_str_printf(out, "<body>\n<svg class=\"defs\" aria-hidden=\"true\">%s</svg>", pt_svg_patterns);
    pt_html_header(out, doc);
    put_nav(out, doc);
    pt_str_add(out, "<main>\n");
    pt_html_lead(out, doc);
    if (pt_html_trace_is_incomplete(doc))
        pt_html_trace_quality(out, doc);
    pt_html_failures(out, doc);
    pt_html_findings(out, doc);
    pt_html_overview(out, doc);
    pt_html_stages(out, doc);
    pt_html_run(out, doc);
    pt_str_add(out,
               "</main><footer>proftrace " PROFTRACE_VERSION
               ". – means unknown; the reason is in its tooltip. MB and GB in report.md are binary, as MiB and GiB "
               "here.</footer>\n</body></html>\n");
}

static void put_lead_of_panels(struct pt_str *out, const struct pt_doc *doc)
{
    pt_html_element(out, "h1", NULL, doc->title);
    if (doc->verdict)
        pt_html_element(out, "p", "lead", doc->verdict);
    if (doc->head.n)
        pt_html_lines(out, &doc->head);
    if (doc->n_notes)
        pt_html_texts(out, doc->notes, doc->n_notes);
}

void pt_render_html_panels(const struct pt_doc *doc, struct pt_str *out)
{
    put_head(out, doc);
    pt_str_printf(out, "<body>\n<svg class=\"defs\" aria-hidden=\"true\">%s</svg><main>\n", pt_svg_patterns);
    if (doc->title)
        put_lead_of_panels(out, doc);
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_doc_stage *stage = doc->stages.items[i];
        pt_str_printf(out, "<section id=\"stage-%u\">", stage->index);
        pt_html_element(out, "h2", NULL, stage->name);
        for (size_t j = 0; j < stage->panels.n; j++) {
            pt_html_element(out, "h3", NULL, stage->panels.items[j]->title);
            pt_html_panel(out, stage->panels.items[j]);
        }
        pt_str_add(out, "</section>\n");
    }
    pt_str_add(out, "</main><footer>proftrace " PROFTRACE_VERSION ". – means that nothing was seen there.</footer>\n"
                    "</body></html>\n");
}
