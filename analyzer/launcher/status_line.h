/* SPDX-License-Identifier: MIT
 *
 * status_line.h - progress on our stderr: one line that is redrawn on a terminal, plain lines elsewhere.
 *
 *     pt_status_line_open(&line);
 *     pt_status_line_begin(&line, "train", 6, 9, now_ns);
 *     ... pt_status_line_values() after each sample; pt_status_line_step() in the poll loop ...
 *     pt_status_line_end(&line, "ok", now_ns);                nothing is left on the terminal
 *     pt_status_line_close(&line);
 *
 * Before anything else is written to the terminal, or we stop for Ctrl-Z: pt_status_line_erase().
 */
#ifndef PT_LAUNCHER_STATUS_LINE_H
#define PT_LAUNCHER_STATUS_LINE_H

#include "proftrace/types.h"
#include "launcher/output/sink.h"
#include "util/str.h"

/* NAN = not known. */
struct pt_status_values {
    double cpu_percent, rss_bytes, gpu_percent;
};

struct pt_status_line {
    struct pt_outlet sink;
    bool live;   /* a terminal that can redraw a line */
    bool silent; /* PROFTRACE_QUIET */
    bool color, unicode;
    bool drawn;
    struct pt_str stage; /* sanitised; empty between stages */
    unsigned number, n_stages;
    struct pt_status_values values;
    pt_u64 begin_ns;
    pt_u64 drawn_ns;
    pt_u64 passed_ns;      /* when something was last written here, by us or for the stage */
    char last_byte;        /* of it */
    unsigned frame;        /* of the spinner */
    struct pt_str waiting; /* plain lines that a full pipe or a stopped terminal did not take yet */
};

/* On descriptor 2; reads TERM, NO_COLOR, PROFTRACE_QUIET and the locale. */
void pt_status_line_open(struct pt_status_line *ret_line);
void pt_status_line_close(struct pt_status_line *line);

/* Stage `number` of `n_stages`, from 1. */
void pt_status_line_begin(struct pt_status_line *line, const char *stage, unsigned number, unsigned n_stages,
                          pt_u64 now_ns);
void pt_status_line_values(struct pt_status_line *line, const struct pt_status_values *values);
/* `result`: "ok", "failed: exit 3", "timeout after 60 s" ... */
void pt_status_line_end(struct pt_status_line *line, const char *result, pt_u64 now_ns);

/* A line of ours, `text` clean; also where progress is not wanted. */
void pt_status_line_say(struct pt_status_line *line, const char *text, pt_u64 now_ns);

/* Draw if it is time to. Returns when to call again; ~0 = no need. */
pt_u64 pt_status_line_step(struct pt_status_line *line, pt_u64 now_ns);

/* False when the terminal is stopped and the line is still there. */
bool pt_status_line_erase(struct pt_status_line *line);
/* Output of the stage was forwarded, ending with this byte: no redraw in the middle of its line. */
void pt_status_line_passed(struct pt_status_line *line, char last_byte, pt_u64 now_ns);

#endif
