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
#include "profile/stages.h"

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

/* "/usr/lib/python3.11/json/decoder.py", but not "/home/me/python3/train.py". */
static bool is_standard(const char *file)
{
    for (const char *at = file; (at = strstr(at, "/lib")) != NULL; at++) {
        const char *rest = at + 4;
        rest += !strncmp(rest, "64", 2) ? 2 : 0;
        if (!strncmp(rest, "/python", 7) && isdigit((unsigned char)rest[7]))
            return true;
    }
    return false;
}

/* Whose code it is; the nearer to the user, the more. */
enum owner { OF_INTERPRETER, OF_STANDARD_LIBRARY, OF_PACKAGE, OF_USER };

static enum owner owner_of(const char *file)
{
    if (!strncmp(file, "<frozen ", 8))
        return OF_INTERPRETER;
    if (!strcmp(file, "<string>")) /* a spawned process begins in one, and classes are made of such */
        return OF_STANDARD_LIBRARY;
    if (strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") || !strncmp(file, "<__array_function__", 19))
        return OF_PACKAGE;
    return is_standard(file) ? OF_STANDARD_LIBRARY : OF_USER;
}

bool pt_python_is_library(const char *file)
{
    return owner_of(file) < OF_USER;
}

pt_u32 pt_python_stack(const struct pt_process *process, pt_u32 stack, struct pt_intern *texts,
                       struct pt_stack_frame ret_frames[PT_STACK_FRAMES])
{
    const pt_u64 *frames;
    const pt_u32 n_frames = pt_process_stack(process, stack, &frames);
    enum owner nearest =
        OF_INTERPRETER; /* chains of imports may be deeper than what is kept, and end before the user's */
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < n_frames && n < PT_STACK_FRAMES; i++) {
        if (!pt_frame_is_python(frames[i]) ||
            !pt_python_frame_of(pt_process_string(process, pt_python_frame_name(frames[i])), texts, &ret_frames[n]))
            continue;
        const enum owner owner = owner_of(ret_frames[n].file);
        nearest = owner > nearest ? owner : nearest;
        n++;
    }
    for (pt_u32 i = 0; i < n; i++)
        ret_frames[i].flags |= owner_of(ret_frames[i].file) < nearest ? PT_FRAME_SERVES : 0;
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

const char *pt_python_place_text(struct pt_metrics *metrics, const char *file, pt_u32 line, const char *function)
{
    return pt_metrics_format(metrics, "%s:%u %s", pt_telling_name(file), line, function);
}
