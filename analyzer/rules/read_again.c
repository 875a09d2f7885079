/* SPDX-License-Identifier: MIT
 *
 * Owns: the link between a function of Python that computes and the files that it opens: the place that the table of
 * files names. Threads: one. Never: takes one reading in each epoch, or in each process, for the same work done again.
 */
#include "read_again.h"

#include <math.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/text/path.h"

enum { FEWEST_OPENS = 10 }; /* per process */
/* Of a function: more of them may be samples, which each epoch reads once. */
enum { MOST_FILES = 8 };

/* "train.py:22 read_labels" is a place in read_labels of train.py, whatever the line. */
static bool is_place_in(const char *text, const char *file, const char *function)
{
    const char *base = pt_telling_name(file);
    const size_t n_base = strlen(base), n = pt_python_named_length(function);
    const char *name = strncmp(text, base, n_base) == 0 && text[n_base] == ':' ? strchr(text + n_base, ' ') : NULL;
    return name && pt_python_named_length(name + 1) == n && !strncmp(name + 1, function, n);
}

static pt_u64 count_processes(const struct pt_profile *profile, pt_i64 stage)
{
    pt_u64 n = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        n += (pt_i64)pt_profile_stage_of(profile, profile->session->processes[i]) == stage;
    return n;
}

struct pt_read_again pt_read_again_in(const struct pt_profile *profile, pt_i64 stage, const char *file,
                                      const char *function)
{
    struct pt_read_again most = {0};
    const struct pt_table *files = stage < 0 ? NULL : pt_view_rows(&profile->metrics, (pt_u32)stage, PT_VIEW_files);
    if (!files || !file || !function || pt_table_column(files, "python_place") == files->n_columns)
        return most;
    const double fewest_opens = FEWEST_OPENS * (double)count_processes(profile, stage);
    double most_bytes = 0;
    pt_u32 n_files = 0;
    for (size_t i = 0; i < files->n_rows; i++) {
        const struct pt_value at = pt_table_cell(files, i, "python_place");
        if (at.type != PT_VALUE_TEXT || !is_place_in(at.text, file, function))
            continue;
        n_files++;
        const double opens = pt_table_number(files, i, "opens");
        /* What the stage has written itself must be read for that. */
        const double written =
            pt_table_number(files, i, "written_bytes") + pt_table_number(files, i, "stdio_written_bytes");
        const double again = pt_table_number(files, i, "read_again_bytes") - written;
        const double distinct = pt_table_number(files, i, "distinct_bytes");
        /* Who reads a small part of a large file each time reads another one. */
        if (opens < fewest_opens || !(again > most_bytes) || again + distinct < opens * distinct / 2)
            continue;
        most_bytes = again;
        most = (struct pt_read_again){
            .path = pt_table_cell(files, i, "path").text,
            .opens = (pt_u64)opens,
            .share = again / (again + distinct),
            .read_bytes = again + distinct,
            .bytes = (pt_u64)again,
        };
    }
    const double epochs =
        fmax(1, pt_value_number(pt_metrics_get(&profile->metrics, pt_scope_stage((pt_u32)stage), "epochs.count")));
    const bool are_read_in_each_epoch = n_files > MOST_FILES && (double)most.opens < epochs * fewest_opens;
    return !are_read_in_each_epoch && most.share >= 0.5 ? most : (struct pt_read_again){0};
}

double pt_opens_in(const struct pt_profile *profile, pt_i64 stage, const char *file, const char *function)
{
    const struct pt_table *files = pt_view_rows(&profile->metrics, (pt_u32)stage, PT_VIEW_files);
    double all = 0, its = 0;
    for (size_t i = 0; files && i < files->n_rows; i++) {
        const struct pt_value at = pt_table_cell(files, i, "python_place");
        const double opens = fmax(pt_table_number(files, i, "opens"), 0);
        all += opens;
        its += at.type == PT_VALUE_TEXT && is_place_in(at.text, file, function) ? opens : 0;
    }
    const double calls =
        pt_value_number(pt_metrics_get(&profile->metrics, pt_scope_stage((pt_u32)stage), "io.open.calls"));
    return all > 0 ? its * fmax(calls / all, 1) : 0;
}

double pt_opens_of_one_file_in(const struct pt_profile *profile, pt_i64 stage, const char *file, const char *function)
{
    const struct pt_table *files = pt_view_rows(&profile->metrics, (pt_u32)stage, PT_VIEW_files);
    double most = 0;
    for (size_t i = 0; files && i < files->n_rows; i++) {
        const struct pt_value at = pt_table_cell(files, i, "python_place");
        if (at.type == PT_VALUE_TEXT && is_place_in(at.text, file, function))
            most = fmax(most, pt_table_number(files, i, "opens"));
    }
    return most / fmax((double)count_processes(profile, stage), 1);
}
