/* SPDX-License-Identifier: MIT
 *
 * Owns: what the screen says of a training. Threads: any. Never: takes more than a few lines of it for a stage.
 */
#include "training.h"

#include "util/auto.h"
#include "bar.h"

enum { MOST_TRAININGS = 4, BAR_CELLS = 20, MARGIN = 2, PARTS = 60 };

static void put(const struct pt_text_out *t, const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_str_printf(&line, "%s%s%s", doc->stages.n > 1 ? stage->name : "Training", ": ", stage->training);
    pt_text_clean(&clean, pt_str_text(&line));
    pt_text_spaces(t, MARGIN);
    pt_text_wrapped(t, pt_str_text(&clean), 2 * MARGIN);
    pt_str_char(t->out, '\n');
    pt_text_spaces(t, 2 * MARGIN);
    if (t->options->is_terminal) {
        pt_text_bar(t, &stage->training_bar, BAR_CELLS);
        pt_text_spaces(t, MARGIN);
    }
    pt_text_parts(t, &stage->training_bar, PARTS);
    while (t->out->n && t->out->text[t->out->n - 1] == ' ')
        t->out->text[--t->out->n] = 0;
    pt_str_char(t->out, '\n');
    if (!stage->beside)
        return;
    pt_str_clear(&line);
    pt_str_clear(&clean);
    pt_str_printf(&line, "other: %s", stage->beside);
    pt_text_clean(&clean, pt_str_text(&line));
    pt_text_spaces(t, 2 * MARGIN);
    pt_text_wrapped(t, pt_str_text(&clean), 2 * MARGIN);
    pt_str_char(t->out, '\n');
}

void pt_text_training(const struct pt_text_out *t, const struct pt_doc *doc)
{
    pt_u32 n = 0;
    for (size_t i = 0; i < doc->stages.n && n < MOST_TRAININGS; i++) {
        if (!doc->stages.items[i]->training)
            continue;
        pt_str_add(t->out, n++ ? "" : "\n");
        put(t, doc, doc->stages.items[i]);
    }
}
