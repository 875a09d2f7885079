/* SPDX-License-Identifier: MIT
 *
 * chart_file.h - the charts and flame graphs of a run as SVG files in its directory, below charts/.
 */
#ifndef PT_REPORT_SVG_CHART_FILE_H
#define PT_REPORT_SVG_CHART_FILE_H

#include "report/doc/doc.h"
#include "util/error.h"

int pt_chart_write_files(const struct pt_doc *doc, int run_fd, struct pt_error *err);

#endif
