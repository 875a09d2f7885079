/* SPDX-License-Identifier: MIT
 *
 * Owns: which form of the report a terminal gets: one screen, everything, or one finding. Threads: any. Never: reads
 * the profile.
 */
#include "report/render.h"
#include "brief.h"
#include "finding.h"
#include "full.h"

void pt_render_text(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    const struct pt_text_out t = {options, out};
    if (options->finding && pt_doc_finding(doc, options->finding))
        pt_text_finding_alone(&t, pt_doc_finding(doc, options->finding));
    else if (options->is_full)
        pt_text_full(&t, doc);
    else
        pt_text_brief(&t, doc);
}
