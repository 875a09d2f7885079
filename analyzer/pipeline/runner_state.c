/* SPDX-License-Identifier: MIT
 *
 * runner_state.c - Owns: the texts of a running pipeline, and the writing of its record. Threads: main only. Never:
 * stops the pipeline because the record cannot be written.
 */
#include "runner_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run_file/thin.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/sanitize.h"

pt_u64 pt_runner_now_ns(const struct pt_runner *runner)
{
    return pt_monotonic_ns() - runner->request->dir->start_monotonic_ns;
}

const char *pt_runner_format(struct pt_runner *runner, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = pt_arena_vformat(&runner->arena, format, arguments);
    va_end(arguments);
    return text;
}

void pt_runner_note(struct pt_runner *runner, const char *text)
{
    pt_vec_push(&runner->notes, pt_strdup(text));
}

/* Every ten seconds for days, and through a pipe that may be full. */
static void say_once(struct pt_runner *runner, const char *trouble)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_sanitize_terminal(&text, trouble);
    if (!strcmp(pt_str_text(&text), pt_str_text(&runner->trouble)))
        return;
    pt_str_clear(&runner->trouble);
    pt_str_add(&runner->trouble, pt_str_text(&text));
    pt_status_line_say(&runner->status_line, pt_str_text(&text), pt_monotonic_ns());
}

bool pt_runner_record(struct pt_runner *runner)
{
    struct pt_error err = {0};
    struct pt_run_info run = runner->run;
    PT_AUTO(pt_freep) const char **notes = pt_calloc(runner->notes.n + 1, sizeof *notes);
    for (size_t i = 0; i < runner->notes.n; i++)
        notes[i] = runner->notes.items[i];
    run.notes = notes;
    pt_run_thin(&run);
    if (pt_run_record_write(runner->request->dir, &run, &err) == 0)
        return true;
    say_once(runner, err.text);
    return false;
}
