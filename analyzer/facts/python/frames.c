/* SPDX-License-Identifier: MIT
 *
 * Owns: reading the names of Python's frames. Threads: one at a time for an intern. Never: trusts a name: it comes from
 * a file.
 */
#include "frames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/python.h"
#include "model/names.h"
#include "util/text/path.h"

/* A number and the colon behind it; NULL = it is none. */
static const char *read_number(const char *at, pt_u32 *ret)
{
    if (!isdigit((unsigned char)*at))
        return NULL;
    char *end;
    const unsigned long number = strtoul(at, &end, 10);
    *ret = number > UINT32_MAX ? 0 : (pt_u32)number;
    return *end == ':' ? end + 1 : NULL;
}

bool pt_python_frame_of(const char *name, struct pt_intern *texts, struct pt_stack_frame *ret_frame)
{
    pt_u32 line = 0, first_line = 0;
    const char *function = name ? read_number(name, &line) : NULL;
    function = function ? read_number(function, &first_line) : NULL;
    const char *end = function ? strchr(function, ':') : NULL;
    if (!end)
        return false;
    *ret_frame = (struct pt_stack_frame){
        .function = pt_intern_bytes(texts, function, (size_t)(end - function)),
        .file = pt_intern_text(texts, end + 1),
        .line = line ? line : first_line,
        .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON,
    };
    return true;
}

/* All that is recorded, which may be more than is kept: its beginning tells whose program it is. */
static struct pt_python_program program_of(const struct pt_process *process, struct pt_intern *texts,
                                           const pt_u64 *frames, pt_u32 n_frames)
{
    struct pt_python_program program = {0};
    struct pt_stack_frame frame;
    for (pt_u32 i = 0; i < n_frames && !program.has_own; i++)
        if (pt_frame_is_python(frames[i]) &&
            pt_python_frame_of(pt_process_string(process, pt_python_frame_name(frames[i])), texts, &frame))
            pt_python_look(&program, frame.function, frame.file, frame.line);
    return program;
}

pt_u32 pt_python_stack(const struct pt_process *process, pt_u32 stack, struct pt_intern *texts,
                       struct pt_stack_frame ret_frames[PT_STACK_FRAMES])
{
    const pt_u64 *frames;
    const pt_u32 n_frames = pt_process_stack(process, stack, &frames);
    const struct pt_python_program program = program_of(process, texts, frames, n_frames);
    enum pt_python_owner owners[PT_STACK_FRAMES];
    enum pt_python_owner nearest =
        PT_OWNER_INTERPRETER; /* chains of imports may be deeper than what is kept, and end before the user's */
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < n_frames && n < PT_STACK_FRAMES; i++) {
        struct pt_stack_frame *frame = &ret_frames[n];
        if (!pt_frame_is_python(frames[i]) ||
            !pt_python_frame_of(pt_process_string(process, pt_python_frame_name(frames[i])), texts, frame))
            continue;
        owners[n] = pt_python_owner_of(&program, frame->function, frame->file, frame->line);
        frame->flags |= pt_python_owner_flags(owners[n], frame->file);
        nearest = owners[n] > nearest ? owners[n] : nearest;
        n++;
    }
    for (pt_u32 i = 0; i < n; i++)
        ret_frames[i].flags |= owners[i] < nearest ? PT_FRAME_SERVES : 0;
    return n;
}

const struct pt_stack_frame *pt_python_own_frame(const struct pt_stack_frame *frames, pt_u32 n)
{
    const struct pt_stack_frame *innermost = NULL;
    for (pt_u32 i = 0; i < n; i++) {
        if (!(frames[i].flags & PT_FRAME_OF_PYTHON))
            continue;
        if (!(frames[i].flags & PT_FRAME_SERVES))
            return &frames[i];
        innermost = innermost ? innermost : &frames[i];
    }
    return innermost;
}

bool pt_python_imports(const struct pt_stack_frame *frames, pt_u32 n)
{
    for (pt_u32 i = 0; i < n; i++)
        if (frames[i].flags & PT_FRAME_OF_PYTHON && pt_python_is_importer(frames[i].file))
            return true;
    return false;
}

size_t pt_python_named_length(const char *function)
{
    const char *part = strstr(function, ".<locals>.<");
    return part ? (size_t)(part - function) : strlen(function);
}

bool pt_python_is_part_of(const char *function, const char *whole)
{
    const size_t n = strlen(whole);
    return !strncmp(function, whole, n) && (!function[n] || pt_python_named_length(function) == n);
}

bool pt_python_is_function(const struct pt_stack_frame *frame, const char *file, const char *name)
{
    if (!(frame->flags & PT_FRAME_OF_PYTHON) || !frame->file || !strstr(frame->file, file))
        return false;
    const char *dot = strrchr(name, '.');
    return pt_ends_with(frame->function, name) || (dot && !strcmp(frame->function, dot + 1));
}

const char *pt_python_place_text(struct pt_metrics *metrics, const char *file, pt_u32 line, const char *function)
{
    return pt_metrics_format(metrics, "%s:%u %s", pt_telling_name(file), line, function);
}
