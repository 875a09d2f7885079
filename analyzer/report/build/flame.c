/* SPDX-License-Identifier: MIT
 *
 * Owns: what the flame graph of a stage shows. Threads: one. Never: uses the name of a stage as a file name unchanged:
 * other characters than letters, digits and dashes are replaced, and two stages never share a file.
 */
#include "flame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_STEM = 48, DEEPEST = 64 };

static const char *copy(const struct pt_build *b, const char *text)
{
    return text ? pt_arena_text(&b->doc->arena, text, strlen(text)) : NULL;
}

static const struct pt_table *table_of(const struct pt_build *b, pt_u32 stage)
{
    return pt_view_table(&b->profile->metrics, stage, PT_VIEW_cpu_flame);
}

static void put_stem(const struct pt_build *b, pt_u32 stage, char stem[LONGEST_STEM + 1])
{
    const char *name = b->profile->stages.items[stage].name;
    size_t n = 0;
    for (; n < LONGEST_STEM && name[n]; n++)
        stem[n] = (char)(isalnum((unsigned char)name[n]) && !((unsigned char)name[n] & 0x80) ? name[n] : '-');
    stem[n] = 0;
}

static const char *file_name(const struct pt_build *b, pt_u32 stage)
{
    char stem[LONGEST_STEM + 1], other[LONGEST_STEM + 1], name[LONGEST_STEM + 32];
    put_stem(b, stage, stem);
    bool is_taken = !*stem;
    for (pt_u32 i = 0; i < b->profile->stages.n && !is_taken; i++) {
        put_stem(b, i, other);
        is_taken = i != stage && !strcmp(stem, other);
    }
    if (is_taken)
        snprintf(name, sizeof name, "flame-%u_%s", stage, stem);
    else
        snprintf(name, sizeof name, "flame-%s", stem);
    return copy(b, name);
}

static enum pt_flame_kind kind_of(struct pt_value value)
{
    return pt_flame_kind_of(value.type == PT_VALUE_TEXT ? value.text : NULL);
}

/* Children lie side by side below their caller, from its left edge; the rest at the right is its self time and that
 * of small functions. */
static void fill(const struct pt_build *b, struct pt_flame *flame, const struct pt_table *table)
{
    double next_s[DEEPEST + 1] = {0};
    flame->frames = pt_arena_alloc(&b->doc->arena, table->n_rows * sizeof *flame->frames + 1);
    for (size_t i = 0; i < table->n_rows; i++) {
        const pt_u32 depth = (pt_u32)pt_table_number(table, i, "depth");
        const struct pt_value module = pt_table_cell(table, i, "module");
        if (depth >= DEEPEST)
            continue;
        struct pt_flame_frame *frame = &flame->frames[flame->n++];
        *frame = (struct pt_flame_frame){
            .function = copy(b, pt_table_cell(table, i, "function").text),
            .module = module.type == PT_VALUE_TEXT ? copy(b, module.text) : NULL,
            .kind = kind_of(pt_table_cell(table, i, "kind")),
            .depth = depth,
            .folded = (pt_u32)pt_table_number(table, i, "frames") - 1,
            .start_s = next_s[depth],
            .total_s = pt_table_number(table, i, "total_s"),
            .self_s = pt_table_number(table, i, "self_s"),
        };
        next_s[depth + 1] = next_s[depth];
        next_s[depth] += frame->total_s;
        flame->rows = depth + 1 > flame->rows ? depth + 1 : flame->rows;
    }
}

static const char *note_of(const struct pt_build *b, pt_u32 stage)
{
    const struct pt_value note = pt_build_metric(b, stage, "cpu.flame.note");
    const struct pt_value samples = pt_build_metric(b, stage, "cpu.samples");
    const bool was_asked = pt_metrics_has(&b->profile->metrics, pt_scope_stage(stage), "cpu.samples");
    if (note.type == PT_VALUE_TEXT)
        return note.text;
    return was_asked && samples.type == PT_VALUE_UNKNOWN ? samples.reason : NULL;
}

void pt_build_flame(const struct pt_build *b, struct pt_doc_stage *stage)
{
    const struct pt_table *table = table_of(b, stage->index);
    const char *note = note_of(b, stage->index);
    if (!table && !note)
        return;
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_FLAME, "cpu_flame", "CPU flame graph");
    panel->section = PT_SECTION_CPU;
    panel->is_open = true;
    panel->flame = pt_arena_alloc(&b->doc->arena, sizeof *panel->flame);
    *panel->flame = (struct pt_flame){
        .name = file_name(b, stage->index),
        .title = b->profile->stages.n > 1 ? pt_doc_format(b->doc, "%s: %s", stage->name, panel->title) : panel->title,
        .stage = stage->name,
        .note = note,
    };
    if (table) {
        fill(b, panel->flame, table);
        panel->flame->left_out = table->rows_left_out;
        panel->flame->deeper_s = pt_value_number(pt_build_metric(b, stage->index, "cpu.flame.deeper_s"));
    }
    pt_vec_push(&stage->panels, panel);
}
