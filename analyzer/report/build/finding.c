/* SPDX-License-Identifier: MIT
 *
 * Owns: how a finding is told: what it costs, the evidence, what to try. Threads: one. Never: judges.
 */
#include <string.h>

#include "build.h"

/* "small_read_calls" -> "small read calls": keys say what they are. */
static const char *label_of(const struct pt_build *b, const char *key)
{
    char *label = pt_arena_text(&b->doc->arena, key, strlen(key));
    for (char *at = label; *at; at++)
        if (*at == '_')
            *at = ' ';
    /* The value brings its unit. */
    static const char *const units[] = {" per s", " s", " percent"};
    const size_t n = strlen(label);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t m = strlen(units[i]);
        if (n > m && !strcmp(label + n - m, units[i])) {
            label[n - m] = 0;
            break;
        }
    }
    return label;
}

static void add_rows(const struct pt_build *b, struct pt_node *evidence, const struct pt_finding *finding)
{
    const struct pt_table *table = finding->table;
    if (!table || !finding->n_rows)
        return;
    const char *dot = strrchr(table->name, '.');
    struct pt_node *list = pt_doc_list(b->doc, evidence, dot ? dot + 1 : table->name, table->title, PT_LAYOUT_TABLE);
    for (pt_u32 i = 0; i < finding->n_rows; i++) {
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        const struct pt_value *cells = pt_table_row(table, finding->rows[i]);
        for (pt_u32 j = 0; j < table->n_columns; j++)
            pt_doc_value(b->doc, item, table->columns[j].key, table->columns[j].label, table->columns[j].show, cells[j])
                ->column = j + 1;
    }
}

static void add_finding(const struct pt_build *b, struct pt_node *list, const struct pt_finding *finding)
{
    struct pt_doc *doc = b->doc;
    struct pt_node *item = pt_doc_group(doc, list, NULL, NULL, PT_LAYOUT_LINES);
    const struct pt_stages *stages = &b->profile->stages;
    const char *stage = finding->stage >= 0 ? stages->items[finding->stage].name : NULL;
    const bool has_gain = finding->gain_upper_s > 0;
    pt_doc_value(doc, item, "rule", NULL, PT_SHOW_TEXT, pt_text(finding->rule));
    pt_doc_value(doc, item, "severity", NULL, PT_SHOW_TEXT, pt_text(pt_severity_name(finding->severity)));
    pt_doc_value(doc, item, "gain_upper_s", NULL, PT_SHOW_SECONDS, pt_real(finding->gain_upper_s))->column = has_gain;
    pt_doc_value(doc, item, "gain_upper_percent", NULL, PT_SHOW_PERCENT, pt_real(finding->gain_upper_percent))->column =
        has_gain ? 2 : 0;
    pt_doc_value(doc, item, "stage", NULL, PT_SHOW_TEXT, pt_text(stage))->column = stage ? has_gain ? 3 : 1 : 0;
    pt_doc_value(doc, item, "title", NULL, PT_SHOW_TEXT, pt_text(finding->title))->column = has_gain || stage ? 4 : 1;
    struct pt_node *evidence = pt_doc_group(doc, item, "evidence", "Evidence", PT_LAYOUT_LINES);
    for (pt_u32 i = 0; i < finding->n_evidence; i++) {
        const struct pt_evidence *fact = &finding->evidence[i];
        pt_doc_value(doc, evidence, fact->key, label_of(b, fact->key), fact->show, fact->value);
    }
    add_rows(b, evidence, finding);
    pt_doc_value(doc, item, "confidence", "confidence", PT_SHOW_TEXT, pt_text(pt_confidence_name(finding->confidence)));
    pt_doc_value(doc, item, "advice", "try", PT_SHOW_TEXT, pt_text(finding->advice));
}

void pt_build_findings(const struct pt_build *b)
{
    struct pt_node *list =
        pt_doc_list(b->doc, b->doc->root, "findings", "Findings (upper bounds; they may overlap)", PT_LAYOUT_CALLOUTS);
    for (size_t i = 0; i < b->findings->n; i++) {
        const struct pt_finding *finding = &b->findings->items[i];
        if (finding->stage < 0 || pt_build_wants_stage(b, (pt_u32)finding->stage))
            add_finding(b, list, finding);
    }
    if (list->first)
        return;
    struct pt_node *none = pt_doc_list(b->doc, b->doc->root, "no_findings", "Findings", PT_LAYOUT_PLAIN);
    none->people_only = true;
    pt_doc_value(b->doc, none, NULL, NULL, PT_SHOW_TEXT,
                 pt_text("No rule found anything that costs 1 % of the run and a tenth of a second."));
}
