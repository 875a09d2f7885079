/* SPDX-License-Identifier: MIT
 *
 * exporters.c - the table of formats. Constant: any thread reads it, none changes it. */
#include "export.h"

#include <string.h>

#define FILE_ROW(name, file_name, warn_mb, refuse_mb, doc, ...)                                                        \
    {#name,                                                                                                            \
     file_name,                                                                                                        \
     doc,                                                                                                              \
     .warn_bytes = warn_mb * 1000000ull,                                                                               \
     .refuse_bytes = refuse_mb * 1000000ull,                                                                           \
     .write = pt_export_##name,                                                                                        \
     __VA_ARGS__},
#define EXPORTER(name, file_name, warn_mb, refuse_mb, doc) FILE_ROW(name, file_name, warn_mb, refuse_mb, doc)
#define EXPORTER_STACKS(name, file_name, warn_mb, refuse_mb, doc)                                                      \
    FILE_ROW(name, file_name, warn_mb, refuse_mb, doc, .has_stacks = true)
#define EXPORTER_FIGURES(name, file_name, warn_mb, refuse_mb, doc)                                                     \
    FILE_ROW(name, file_name, warn_mb, refuse_mb, doc, .has_figures = true)
#define EXPORTER_FOLDER(name, file_name, doc) {#name, file_name, doc, .write_folder = pt_export_##name},
const struct pt_exporter pt_exporters[] = {
#include "exporters.def"
};
#undef EXPORTER
#undef EXPORTER_STACKS
#undef EXPORTER_FIGURES
#undef EXPORTER_FOLDER
#undef FILE_ROW
const pt_u32 pt_n_exporters = sizeof pt_exporters / sizeof *pt_exporters;

const struct pt_exporter *pt_exporter_find(const char *name)
{
    for (pt_u32 i = 0; i < pt_n_exporters; i++)
        if (!strcmp(pt_exporters[i].name, name))
            return &pt_exporters[i];
    return NULL;
}
