/* SPDX-License-Identifier: MIT
 *
 * Owns: how text is fitted to a terminal. Threads: any. Never: lets a recorded name reach the terminal unsanitised.
 */
#include "put.h"

#include <stdlib.h>
#include <string.h>

#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/apart.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "util/text/width.h"

void pt_text_put(const struct pt_text_out *t, const char *text)
{
    if (t->options->utf8) {
        pt_str_add(t->out, text);
        return;
    }
    /* As wide as it was measured, or the columns after it would not stand below one another. */
    for (unsigned cells; *text;) {
        const char *character = text;
        text += pt_text_next(text, &cells);
        while (cells--)
            pt_str_char(t->out, (unsigned char)*character < 0x80 ? *character : '?');
    }
}

void pt_text_spaces(const struct pt_text_out *t, pt_u32 n)
{
    while (n--)
        pt_str_char(t->out, ' ');
}

void pt_text_clean(struct pt_str *out, const char *text)
{
    pt_sanitize_terminal(out, text);
}

void pt_text_heading(const struct pt_text_out *t, const char *heading)
{
    if (t->out->n)
        pt_str_char(t->out, '\n');
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_text_clean(&text, heading);
    pt_str_add(t->out, t->options->color ? "\033[1m" : "");
    pt_text_put(t, pt_str_text(&text));
    pt_str_add(t->out, t->options->color ? "\033[0m\n" : "\n");
}

/* A word that does not fit into a line: a path is there to be copied, or it keeps the name of its file. */
static void put_words(const struct pt_text_out *t, const char *text, pt_u32 indent, bool may_cut)
{
    const pt_u32 room = t->options->width > indent + 20 ? t->options->width - indent : ~0u;
    pt_u32 at = 0;
    while (*text) {
        const size_t bytes = strcspn(text, " ");
        PT_AUTO(pt_str_fini) struct pt_str whole = {0};
        PT_AUTO(pt_str_fini) struct pt_str word = {0};
        pt_str_bytes(&whole, text, bytes);
        pt_text_shorten(&word, pt_str_text(&whole), may_cut ? room : ~0u, "...");
        const pt_u32 width = pt_text_width(pt_str_text(&word));
        if (at && at + 1 + width > room) {
            pt_str_char(t->out, '\n');
            pt_text_spaces(t, indent);
            at = 0;
        } else if (at) {
            pt_str_char(t->out, ' ');
            at++;
        }
        pt_text_put(t, pt_str_text(&word));
        at += width;
        text += bytes;
        text += *text == ' ';
    }
}

void pt_text_wrapped(const struct pt_text_out *t, const char *text, pt_u32 indent)
{
    put_words(t, text, indent, false);
}

void pt_text_fitted(const struct pt_text_out *t, const char *text, pt_u32 indent)
{
    put_words(t, text, indent, true);
}

/* ---- lines ---- */

static void put_clean(struct pt_str *out, struct pt_cell cell, bool with_reason)
{
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    pt_show_value(&raw, cell, PT_STYLE_TERMINAL);
    if (with_reason && cell.value.type == PT_VALUE_UNKNOWN && cell.value.reason)
        pt_str_printf(&raw, " (%s)", cell.value.reason);
    pt_text_clean(out, pt_str_text(&raw));
}

void pt_text_value(const struct pt_text_out *t, struct pt_cell cell)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    put_clean(&clean, cell, false);
    pt_text_put(t, pt_str_text(&clean));
}

pt_u32 pt_text_label_width(const struct pt_lines *lines)
{
    pt_u32 width = 12;
    const struct pt_line *line;
    pt_vec_each(line, lines)
    {
        const pt_u32 here = line->label ? pt_text_width(line->label) : 0;
        width = here > width ? here : width;
    }
    return width;
}

void pt_text_line(const struct pt_text_out *t, const struct pt_line *line, const char *indent, pt_u32 label_width)
{
    PT_AUTO(pt_str_fini) struct pt_str label = {0};
    PT_AUTO(pt_str_fini) struct pt_str value = {0};
    if (!line->label)
        return;
    put_clean(&value, line->cell, true);
    pt_text_clean(&label, line->label); /* a quality metric's key is the user's */
    const pt_u32 have = pt_text_width(pt_str_text(&label));
    pt_str_add(t->out, indent);
    pt_text_put(t, pt_str_text(&label));
    pt_text_spaces(t, have < label_width ? label_width - have + 2 : 2);
    pt_text_wrapped(t, pt_str_text(&value), (pt_u32)strlen(indent) + label_width + 2);
    pt_str_char(t->out, '\n');
}

void pt_text_lines(const struct pt_text_out *t, const struct pt_lines *lines, const char *indent)
{
    const pt_u32 width = pt_text_label_width(lines);
    const struct pt_line *line;
    pt_vec_each(line, lines) pt_text_line(t, line, indent, width);
}

/* ---- tables ---- */

enum { NARROWEST_NAME = 32, NARROWEST_TEXT = 12, WIDEST_TEXT = 100, GAP = 2 };

static pt_u32 total_width(const struct pt_grid *grid, pt_u32 n_columns)
{
    pt_u32 width = 0;
    for (pt_u32 i = 0; i < n_columns; i++)
        width += grid->width[i] + (i ? GAP : 0);
    return width;
}

/* Makes the texts of the first n columns narrower where that helps: whether they fit then. */
static bool narrow(struct pt_grid *grid, pt_u32 n, pt_u32 limit)
{
    pt_u32 width = total_width(grid, n);
    for (pt_u32 i = 0; i < n && width > limit; i++) {
        /* Text in the first column names the row: it keeps more, unless there is nothing else to leave out. */
        const pt_u32 least = i || n <= 2 ? NARROWEST_TEXT : NARROWEST_NAME;
        if (pt_show_is_number(grid->columns[i]->show) || grid->width[i] <= least)
            continue;
        const pt_u32 spare = grid->width[i] - least, over = width - limit;
        if (spare < over && n > 2)
            continue;
        grid->width[i] -= spare < over ? spare : over;
        width -= spare < over ? spare : over;
    }
    return width <= limit;
}

/* Cut long texts first, then leave out columns from the right; how many are left. */
static pt_u32 fit(struct pt_grid *grid, pt_u32 limit)
{
    pt_u32 n = grid->n_columns;
    for (pt_u32 i = 0; i < n; i++)
        if (grid->width[i] > WIDEST_TEXT)
            grid->width[i] = WIDEST_TEXT;
    while (limit && !narrow(grid, n, limit) && n > 2)
        n--;
    return n;
}

static void put_cell(const struct pt_text_out *t, const char *cell, pt_u32 width, bool right, bool is_last)
{
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_text_shorten(&cut, cell, width, "...");
    const pt_u32 have = pt_text_width(pt_str_text(&cut)); /* of a path whole names are left out */
    pt_text_spaces(t, right && have < width ? width - have : 0);
    pt_text_put(t, pt_str_text(&cut));
    pt_text_spaces(t, !right && !is_last && have < width ? width - have : 0);
}

/* Two rows are not to be shown as one. */
static void shorten_texts(struct pt_grid *grid, pt_u32 n)
{
    struct pt_str **texts = pt_calloc(grid->n_rows, sizeof *texts);
    for (pt_u32 i = 0; i < n; i++) {
        if (pt_show_is_number(grid->columns[i]->show))
            continue;
        for (size_t row = 0; row < grid->n_rows; row++)
            texts[row] = &grid->cells[row * grid->n_columns + i];
        pt_text_shorten_apart(texts, grid->n_rows, grid->width[i], "...");
    }
    free(texts);
}

void pt_text_table(const struct pt_text_out *t, const struct pt_panel *panel, const char *indent)
{
    struct pt_grid grid;
    pt_grid_fill(&grid, panel, PT_STYLE_TERMINAL, pt_sanitize_terminal, true);
    const pt_u32 room = t->options->width > strlen(indent) ? t->options->width - (pt_u32)strlen(indent) : 0;
    static const char sign[] = "  ...";
    pt_u32 n = fit(&grid, room);
    if (n < grid.n_columns && room > sizeof sign)
        n = fit(&grid, room - (pt_u32)(sizeof sign - 1));
    shorten_texts(&grid, n);
    pt_str_add(t->out, indent);
    for (pt_u32 i = 0; i < n; i++) {
        pt_text_spaces(t, i ? GAP : 0);
        put_cell(t, pt_str_text(&grid.headings[i]), grid.width[i], pt_show_is_number(grid.columns[i]->show),
                 i + 1 == n);
    }
    /* Rows need not add up without what did not fit. */
    pt_str_add(t->out, n < grid.n_columns && total_width(&grid, n) + sizeof sign <= room + 1 ? sign : "");
    for (size_t row = 0; row < grid.n_rows; row++) {
        pt_str_char(t->out, '\n');
        pt_str_add(t->out, indent);
        for (pt_u32 i = 0; i < n; i++) {
            pt_text_spaces(t, i ? GAP : 0);
            put_cell(t, pt_str_text(pt_grid_cell(&grid, row, i)), grid.width[i],
                     pt_show_is_number(grid.columns[i]->show), i + 1 == n);
        }
    }
    pt_str_char(t->out, '\n');
    if (grid.rows_left_out)
        pt_str_printf(t->out, "%s... and %s more\n", indent, pt_fmt_count(grid.rows_left_out).text);
    pt_grid_fini(&grid);
}
