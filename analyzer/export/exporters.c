/* SPDX-License-Identifier: MIT
 *
 * exporters.c - the table of formats. Immutable; any thread may read it. */
#include "export.h"

#include <string.h>

const struct pt_exporter pt_exporters[] = {
#define EXPORTER(name, file_name, warn_mb, refuse_mb, doc)                                                             \
    {#name, file_name, doc, warn_mb * 1000000ull, refuse_mb * 1000000ull, pt_export_##name, NULL},
#define EXPORTER_FOLDER(name, file_name, doc) {#name, file_name, doc, 0, 0, NULL, pt_export_##name},
#include "exporters.def"
#undef EXPORTER
#undef EXPORTER_FOLDER
};
const pt_u32 pt_n_exporters = sizeof pt_exporters / sizeof *pt_exporters;

const struct pt_exporter *pt_exporter_find(const char *name)
{
    for (pt_u32 i = 0; i < pt_n_exporters; i++)
        if (!strcmp(pt_exporters[i].name, name))
            return &pt_exporters[i];
    return NULL;
}
