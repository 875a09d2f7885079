/* SPDX-License-Identifier: MIT
 *
 * renderers.c - Owns: the table of renderers, made from renderers.def. Threads: any, it is constant.
 */
#include "render.h"

const struct pt_renderer pt_renderers[] = {
#define RENDERER(name, file_name) {#name, file_name, pt_render_##name},
#include "renderers.def"
#undef RENDERER
    {NULL, NULL, NULL},
};
