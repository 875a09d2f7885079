/* SPDX-License-Identifier: MIT
 *
 * Owns: the JSON of panels. Threads: any. Never: writes more rows than people would see.
 */
#include "panel.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/str.h"
#include "value.h"

void pt_json_panel(struct pt_json *json, const struct pt_panel *panel)
{
    switch (panel->kind) {
    case PT_PANEL_LINES:
        pt_json_object(json, panel->key);
        for (size_t i = 0; i < panel->lines.n; i++)
            pt_json_value(json, panel->lines.items[i].key, panel->lines.items[i].cell.show,
                          panel->lines.items[i].cell.value);
        pt_json_end(json);
        break;
    case PT_PANEL_TABLE:
        if (!panel->table->n_rows && panel->why_empty)
            pt_json_value(json, panel->key, PT_SHOW_COUNT, pt_unknown(panel->why_empty));
        else
            pt_json_table(json, panel->key, panel->table, panel->most);
        break;
    case PT_PANEL_TEXTS:
        pt_json_array(json, panel->key);
        for (pt_u32 i = 0; i < panel->n_texts; i++)
            pt_json_text(json, NULL, panel->texts[i]);
        pt_json_end(json);
        break;
    case PT_PANEL_LOG:
    case PT_PANEL_FLAME:
    case PT_PANEL_BARS:
        break;
    }
}

static int append(void *context, const char *bytes, size_t n)
{
    pt_str_bytes(context, bytes, n);
    return 0;
}

/* What it is about, the verdict, and what to know about it; nothing where there is none. */
static void put_lead(struct pt_json *json, const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->head.n; i++)
        if (doc->head.items[i].key)
            pt_json_value(json, doc->head.items[i].key, doc->head.items[i].cell.show, doc->head.items[i].cell.value);
    if (doc->verdict)
        pt_json_text(json, "verdict", doc->verdict);
    if (!doc->n_notes)
        return;
    pt_json_array(json, "notes");
    for (pt_u32 i = 0; i < doc->n_notes; i++)
        pt_json_text(json, NULL, doc->notes[i]);
    pt_json_end(json);
}

void pt_json_stage_panels(const struct pt_doc *doc, struct pt_str *out)
{
    struct pt_json *json = pt_malloc(sizeof *json);
    pt_json_init(json, append, out, true);
    pt_json_object(json, NULL);
    pt_json_text(json, "schema_version", "1.0");
    if (doc->title)
        put_lead(json, doc);
    pt_json_array(json, "stages");
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_doc_stage *stage = doc->stages.items[i];
        pt_json_object(json, NULL);
        pt_json_text(json, "stage", stage->name);
        for (size_t j = 0; j < stage->panels.n; j++)
            pt_json_panel(json, stage->panels.items[j]);
        pt_json_end(json);
    }
    pt_json_end(json);
    pt_json_end(json);
    pt_json_close(json);
    free(json);
    pt_str_char(out, '\n');
}
