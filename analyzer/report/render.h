/* SPDX-License-Identifier: MIT
 *
 * render.h - a renderer: a row in renderers.def and one function that turns the document into text.
 */
#ifndef PT_REPORT_RENDER_H
#define PT_REPORT_RENDER_H

#include "report/doc/doc.h"
#include "util/str.h"

struct pt_render_options {
    pt_u32 width; /* columns; 0 = no limit */
    bool utf8;    /* the medium shows UTF-8 */
    bool color;
    bool is_terminal;         /* written to a terminal: bars may be drawn */
    bool is_full;             /* of text: everything; else one screen */
    pt_u32 finding;           /* of text: only this one, with its evidence; 0 = all */
    const char *run_argument; /* what commands that name this run need; NULL = nothing, it is the latest */
    const char *stage;        /* what commands name beside it, or they would show another view: a stage; NULL = all, */
    pt_i64 since_ns;          /* and the length of the window; 0 = none */
    const char *page;         /* path of the page in the same run; NULL = none */
};

struct pt_renderer {
    const char *name;
    const char *file_name; /* what `run` writes into the run directory; NULL = not written */
    void (*render)(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out);
};

#define RENDERER(name, file_name)                                                                                      \
    void pt_render_##name(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out);
#include "renderers.def"
#undef RENDERER

/* A page of the panels of each stage; of a document with a title that, its verdict, head and notes come first. */
void pt_render_html_panels(const struct pt_doc *doc, struct pt_str *out);

/* The same as Markdown. */
void pt_render_md_panels(const struct pt_doc *doc, struct pt_str *out);

/* In the order of renderers.def, closed by a row without name. */
extern const struct pt_renderer pt_renderers[];

#endif
