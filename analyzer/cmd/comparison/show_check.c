/* SPDX-License-Identifier: MIT
 *
 * show_check.c - Owns: what a check looks like for people, CI systems and programs. Threads: main only.
 */
#include "show_check.h"

#include <math.h>

#include "regression/check_doc.h"
#include "regression/junit.h"
#include "report/render.h"
#include "report/run_document.h"
#include "report/text/panel.h"
#include "util/auto.h"
#include "forms.h"

/* A line that GitHub shows at the change; what follows is one line, without its escapes. */
static void put_github(const struct pt_checked *checked, struct pt_str *out)
{
    pt_str_printf(out, "::%s title=proftrace check::",
                  checked->result == PT_CHECK_WORSE       ? "error"
                  : checked->result == PT_CHECK_UNDECIDED ? "warning"
                                                          : "notice");
    PT_AUTO(pt_str_fini) struct pt_str verdict = {0};
    pt_text_clean(&verdict, checked->doc->verdict);
    for (const char *at = pt_str_text(&verdict); *at; at++)
        if (*at == '%')
            pt_str_add(out, "%25");
        else
            pt_str_char(out, *at);
    pt_str_char(out, '\n');
}

void pt_show_check(const struct pt_checked *checked, enum pt_check_form form, const char *output, struct pt_str *out)
{
    switch (form) {
    case PT_CHECK_JSON:
        pt_check_json(checked, out);
        return;
    case PT_CHECK_GITHUB:
        put_github(checked, out);
        return;
    case PT_CHECK_MD:
        pt_render_md_panels(checked->doc, out);
        return;
    case PT_CHECK_JUNIT:
        pt_check_junit(checked->doc, out);
        return;
    case PT_CHECK_TEXT:
        break;
    }
    pt_form_text(checked->doc, output, out);
}

int pt_self_check(const cJSON *baseline, const char *run, bool for_github, struct pt_self_check *ret,
                  struct pt_error *err)
{
    PT_AUTO(pt_run_document_freep) cJSON *document = pt_run_document(run, err);
    PT_AUTO(pt_checked_fini) struct pt_checked checked = {0};
    if (!document)
        return -1;
    const struct pt_check check = {
        .baseline = baseline, .documents = &document, .n_documents = 1, .threshold_percent = NAN};
    pt_check(&check, &checked);
    pt_check_doc(&checked);
    ret->result = checked.result;
    pt_text_clean(&ret->verdict, checked.doc->verdict);
    pt_show_check(&checked, PT_CHECK_MD, NULL, &ret->md);
    pt_show_check(&checked, for_github ? PT_CHECK_GITHUB : PT_CHECK_TEXT, NULL, &ret->all);
    return 0;
}

void pt_self_check_fini(struct pt_self_check *check)
{
    pt_str_fini(&check->verdict);
    pt_str_fini(&check->md);
    pt_str_fini(&check->all);
}
