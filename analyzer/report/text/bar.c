/* SPDX-License-Identifier: MIT
 *
 * Owns: bars on a terminal. Threads: any. Never: distinguishes two parts by colour alone: the largest are named.
 */
#include "bar.h"

#include <ctype.h>
#include <math.h>

#include "facts/wait_kind.h"
#include "util/auto.h"
#include "util/text/width.h"

enum { MOST_PARTS = 64 };

void pt_text_rank_parts(const struct pt_bar *bar, pt_u32 *ret_parts)
{
    for (pt_u32 i = 0; i < bar->n_parts; i++) {
        pt_u32 at = i;
        for (; at && bar->parts[ret_parts[at - 1]].seconds < bar->parts[i].seconds; at--)
            ret_parts[at] = ret_parts[at - 1];
        ret_parts[at] = i;
    }
}

/* The nearest of a terminal's 256 colours to those of the page. */
static int color_of(pt_u32 part)
{
    static const unsigned char colors[] = {
        [PT_PART_gpu_wait] = 67,   [PT_PART_copy] = 110,      [PT_PART_file_read] = 214, [PT_PART_file_write] = 130,
        [PT_PART_file_meta] = 221, [PT_PART_network] = 133,   [PT_PART_data_wait] = 166, [PT_PART_idle] = 254,
        [PT_PART_lock] = 89,       [PT_PART_gil_wait] = 168,  [PT_PART_sleep] = 251,     [PT_PART_child_wait] = 245,
        [PT_PART_workers] = 64,    [PT_PART_page_fault] = 30, [PT_PART_heap] = 97,       [PT_PART_python] = 35,
        [PT_PART_native] = 115,    [PT_PART_computing] = 72,  [PT_PART_runnable] = 186,  [PT_PART_unattributed] = 244};
    _Static_assert(sizeof colors == PT_PART__COUNT, "each part has a colour, the one that it has in svg.css");
    return part && part <= sizeof colors ? colors[part - 1] : 244;
}

/* Without colour the largest part is dark, the next one lighter. */
static const char *shade_of(const struct pt_text_out *t, pt_u32 rank)
{
    static const char *const blocks[] = {"█", "▓", "░"}, *const letters[] = {"#", "=", "."};
    const pt_u32 which = rank < 2 ? rank : 2;
    return t->options->utf8 ? blocks[which] : letters[which];
}

static void put_cells(const struct pt_text_out *t, const struct pt_bar_part *part, pt_u32 rank, pt_u32 n)
{
    if (!n)
        return;
    if (t->options->color)
        pt_str_printf(t->out, "\033[38;5;%dm", color_of(part->color));
    while (n--)
        pt_str_add(t->out, t->options->color ? (t->options->utf8 ? "█" : "#") : shade_of(t, rank));
    if (t->options->color)
        pt_str_add(t->out, "\033[0m");
}

void pt_text_bar(const struct pt_text_out *t, const struct pt_bar *bar, pt_u32 width)
{
    const double length_s = pt_cell_number(bar->length);
    pt_u32 ranked[MOST_PARTS], drawn = 0;
    double so_far_s = 0;
    if (length_s > 0 && bar->n_parts <= MOST_PARTS) {
        pt_text_rank_parts(bar, ranked);
        for (pt_u32 rank = 0; rank < bar->n_parts && drawn < width; rank++) {
            const struct pt_bar_part *part = &bar->parts[ranked[rank]];
            so_far_s += part->seconds;
            const double until = fmin(so_far_s / length_s, 1) * width;
            const pt_u32 cells = (pt_u32)lround(until);
            put_cells(t, part, rank, cells > drawn ? cells - drawn : 0);
            drawn = cells > drawn ? cells : drawn;
        }
    }
    pt_text_spaces(t, width - drawn);
}

/* "Native" -> "native"; "GPU wait" and "GIL" stay. */
static void put_label(struct pt_str *out, const char *label)
{
    const bool is_word = isupper((unsigned char)label[0]) && !isupper((unsigned char)label[1]);
    pt_str_char(out, is_word ? (char)tolower((unsigned char)label[0]) : label[0]);
    pt_str_add(out, label + 1);
}

void pt_text_parts(const struct pt_text_out *t, const struct pt_bar *bar, pt_u32 width)
{
    const double length_s = pt_cell_number(bar->length);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_u32 ranked[MOST_PARTS];
    if (length_s > 0 && bar->n_parts <= MOST_PARTS) {
        pt_text_rank_parts(bar, ranked);
        for (pt_u32 rank = 0; rank < bar->n_parts; rank++) {
            PT_AUTO(pt_str_fini) struct pt_str one = {0};
            const struct pt_bar_part *part = &bar->parts[ranked[rank]];
            const double percent = 100 * part->seconds / length_s;
            pt_str_add(&one, rank ? "  " : "");
            put_label(&one, part->label);
            pt_str_printf(&one, " %.0f %%", percent);
            if (rank && (percent < 3 || text.n + one.n > width))
                break;
            pt_str_add(&text, pt_str_text(&one));
        }
    }
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_text_shorten(&cut, pt_str_text(&text), width, "...");
    pt_text_put(t, pt_str_text(&cut));
    pt_text_spaces(t, width - pt_text_width(pt_str_text(&cut)));
}
