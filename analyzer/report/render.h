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

/* A part of a document: a node and its siblings, as the terminal shows them. */
void pt_render_text_nodes(const struct pt_node *first, const struct pt_render_options *options, struct pt_str *out);

/* In the order of renderers.def, closed by a row without name. */
extern const struct pt_renderer pt_renderers[];

#endif
