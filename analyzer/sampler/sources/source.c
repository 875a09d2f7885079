/* SPDX-License-Identifier: MIT
 *
 * source.c - Owns: the table of sources. Threads: any; the table is constant. Never: reads a value itself.
 */
#include "source.h"

#include <stdarg.h>
#include <stdio.h>

const struct pt_source *const pt_sources[] = {
#define SOURCE(name) &pt_source_##name,
#include "sources.def"
#undef SOURCE
};
const size_t pt_n_sources = sizeof pt_sources / sizeof *pt_sources;

void pt_source_unknown(const struct pt_source_host *host, enum pt_resource resource, const char *format, ...)
{
    if (host->reasons[resource][0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(host->reasons[resource], PT_REASON_SIZE, format, arguments);
    va_end(arguments);
}
