/* SPDX-License-Identifier: MIT
 *
 * Owns: the charts of a run as files. Threads: one. Never: takes a file name from what was recorded as it is.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "report/svg/chart_axis.h"
#include "report/svg/svg.h"
#include "util/auto.h"
#include "write.h"

int pt_chart_write_files(const struct pt_doc *doc, const char *directory, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str folder = {0};
    pt_str_printf(&folder, "%s/charts", directory);
    for (const struct pt_node *node = doc->root->first; node; node = node->next) {
        const bool is_flame = node->kind == PT_NODE_FLAME && node->flame->n;
        if (node->kind != PT_NODE_CHART && !is_flame)
            continue;
        if (mkdir(pt_str_text(&folder), 0700) < 0 && errno != EEXIST)
            return pt_fail(err, "cannot make %s: %s", pt_str_text(&folder), strerror(errno));
        PT_AUTO(pt_str_fini) struct pt_str path = {0};
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_str_printf(&path, "%s/%s.svg", pt_str_text(&folder), is_flame ? node->flame->name : node->chart->name);
        if (is_flame)
            pt_svg_flame_file(&text, node->flame);
        else
            pt_svg_chart_file(&text, node->chart);
        if (pt_report_write_text(pt_str_text(&path), &text, err) < 0)
            return -1;
    }
    return 0;
}
