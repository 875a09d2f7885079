/* SPDX-License-Identifier: MIT
 *
 * Owns: the charts of a run as files. Threads: one. Never: uses a recorded name as a file name unchanged.
 */
#include "chart_file.h"

#include <errno.h>
#include <string.h>

#include "util/auto.h"
#include "util/new_file.h"
#include "svg.h"

static int write_svg(int run_fd, const char *name, const struct pt_str *svg, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str file = {0};
    PT_AUTO(pt_closep) int folder_fd = pt_folder_make_in(run_fd, "charts");
    pt_str_printf(&file, "%s.svg", name);
    if (folder_fd < 0 || pt_new_file_write(folder_fd, pt_str_text(&file), pt_str_text(svg), svg->n) < 0)
        return pt_fail(err, "cannot write charts/%s: %s", pt_str_text(&file), strerror(errno));
    return 0;
}

static int write_flames(const struct pt_doc_stage *stage, int run_fd, struct pt_error *err)
{
    for (size_t i = 0; i < stage->panels.n; i++) {
        const struct pt_panel *panel = stage->panels.items[i];
        PT_AUTO(pt_str_fini) struct pt_str svg = {0};
        if (panel->kind != PT_PANEL_FLAME || !panel->flame->n)
            continue;
        pt_svg_flame_file(&svg, panel->flame);
        if (write_svg(run_fd, panel->flame->name, &svg, err) < 0)
            return -1;
    }
    return 0;
}

int pt_chart_write_files(const struct pt_doc *doc, int run_fd, struct pt_error *err)
{
    for (size_t i = 0; i < doc->charts.n; i++) {
        PT_AUTO(pt_str_fini) struct pt_str svg = {0};
        pt_svg_chart_file(&svg, doc->charts.items[i]);
        if (write_svg(run_fd, doc->charts.items[i]->name, &svg, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < doc->stages.n; i++)
        if (write_flames(doc->stages.items[i], run_fd, err) < 0)
            return -1;
    return 0;
}
