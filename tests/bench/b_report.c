/* SPDX-License-Identifier: MIT
 *
 * b_report.c - what `proftrace run` and `proftrace pipeline` do when the work is done: all analyses once, and every
 * form of report (JSON, HTML, Markdown, charts) written into the run directory.   usage: b_report RUN
 */
#include "bench.h"
#include "report/write.h"
#include "util/new_file.h"

int main(int argc, char **argv)
{
    struct pt_error err = {0};
    const struct pt_written nothing_shown = {0};
    if (argc < 2)
        return 2;
    const int run_fd = pt_folder_open_own(argv[1], &err);
    if (run_fd < 0 || pt_write_reports(argv[1], run_fd, &nothing_shown, &err) < 0) {
        fprintf(stderr, "b_report: %s\n", err.text);
        return 3;
    }
    return 0;
}
