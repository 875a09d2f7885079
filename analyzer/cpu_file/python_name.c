/* SPDX-License-Identifier: MIT
 *
 * cpu_file/python_name.c - Owns: nothing. Threads: any. Never: fails.
 */
#include "python_name.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX_BYTES = 4096 };

/* "<line>:<first line>:<function>:<file>" */
static struct pt_cpu_python_name name_of(struct pt_arena *texts, const char *text)
{
    unsigned line, first_line;
    int n = 0;
    if (sscanf(text, "%9u:%9u:%n", &line, &first_line, &n) != 2 || !n)
        return (struct pt_cpu_python_name){.function = text, .file = ""};
    const char *function = text + n, *end = strchr(function, ':');
    if (!end)
        return (struct pt_cpu_python_name){function, "", line, first_line};
    return (struct pt_cpu_python_name){pt_arena_text(texts, function, (size_t)(end - function)), end + 1, line,
                                       first_line};
}

bool pt_cpu_python_names_add(struct pt_cpu_python_names *names, struct pt_arena *texts, const pt_u8 *bytes, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        end = at + strnlen((const char *)bytes + at, n - at);
        if (end == n || names->n > PT_CPU_NAMES_MAX)
            return false;
        const size_t n_kept = end - at < TEXT_MAX_BYTES ? end - at : TEXT_MAX_BYTES;
        pt_vec_push(names, name_of(texts, pt_arena_text(texts, bytes + at, n_kept)));
    }
    return true;
}
