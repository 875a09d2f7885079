/* SPDX-License-Identifier: MIT
 *
 * forms.c - Owns: which renderer makes which form of panels. Threads: main only. Never: knows what the panels say.
 */
#include "forms.h"

#include "report/json/panel.h"
#include "report/medium.h"
#include "report/text/panel.h"
#include "util/auto.h"

void pt_form_text(const struct pt_doc *doc, const char *output, struct pt_str *out)
{
    const struct pt_render_options how = pt_medium_of(output);
    const struct pt_text_out people = {&how, out};
    PT_AUTO(pt_str_fini) struct pt_str verdict = {0};
    pt_text_clean(&verdict, doc->verdict);
    pt_text_put(&people, pt_str_text(&verdict));
    pt_str_char(out, '\n');
    pt_text_notes(&people, doc);
    for (size_t i = 0; i < doc->stages.n; i++)
        pt_text_panels(&people, &doc->stages.items[i]->panels, doc->stages.items[i]->name);
}

void pt_form_panels(enum pt_form form, const struct pt_doc *doc, struct pt_str *out)
{
    if (form == PT_FORM_JSON)
        pt_json_stage_panels(doc, out);
    else if (form == PT_FORM_MD)
        pt_render_md_panels(doc, out);
    else
        pt_render_html_panels(doc, out);
}
