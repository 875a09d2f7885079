/* SPDX-License-Identifier: MIT
 *
 * Owns: the charts of a run as files. Threads: one. Never: uses a recorded name as a file name unchanged.
 */
#include "chart_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/text_file.h"
#include "util/auto.h"
#include "svg.h"

static int write_svg(const char *folder, const char *name, const struct pt_str *svg, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str path = {0};
    struct stat status;
    if (lstat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        unlink(folder); /* a link would lead elsewhere */
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return pt_fail(err, "cannot make %s: %s", folder, strerror(errno));
    pt_str_printf(&path, "%s/%s.svg", folder, name);
    return pt_text_file_replace(pt_str_text(&path), svg, err);
}

static int write_flames(const struct pt_doc_stage *stage, const char *folder, struct pt_error *err)
{
    for (size_t i = 0; i < stage->panels.n; i++) {
        const struct pt_panel *panel = stage->panels.items[i];
        PT_AUTO(pt_str_fini) struct pt_str svg = {0};
        if (panel->kind != PT_PANEL_FLAME || !panel->flame->n)
            continue;
        pt_svg_flame_file(&svg, panel->flame);
        if (write_svg(folder, panel->flame->name, &svg, err) < 0)
            return -1;
    }
    return 0;
}

int pt_chart_write_files(const struct pt_doc *doc, const char *directory, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str folder = {0};
    pt_str_printf(&folder, "%s/charts", directory);
    for (size_t i = 0; i < doc->charts.n; i++) {
        PT_AUTO(pt_str_fini) struct pt_str svg = {0};
        pt_svg_chart_file(&svg, doc->charts.items[i]);
        if (write_svg(pt_str_text(&folder), doc->charts.items[i]->name, &svg, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < doc->stages.n; i++)
        if (write_flames(doc->stages.items[i], pt_str_text(&folder), err) < 0)
            return -1;
    return 0;
}
