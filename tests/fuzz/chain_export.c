/* SPDX-License-Identifier: MIT
 *
 * chain_export.c - Owns: the exporters in fuzz_chain. Threads: one. Never: keeps what they write.
 */
#include "chain_export.h"

#include <stdio.h>

#include "export/export.h"

static void export_one(struct pt_session *session, const struct pt_exporter *exporter, const char *folder, bool off_cpu)
{
    const struct pt_export_options options = {.filter = {.until_ns = 0}, .max_bytes = 64 << 20, .off_cpu = off_cpu};
    struct pt_export_summary summary = {0};
    struct pt_sink_result result;
    struct pt_error err = {0};
    if (!exporter->write) {
        char path[128];
        snprintf(path, sizeof path, "%s/out-%s", folder, exporter->name);
        const struct pt_out_place place = pt_place_of_user(path);
        exporter->write_folder(session, &options, &place, &summary, &result, &err);
        return;
    }
    const struct pt_out_place nowhere = pt_place_of_user("/dev/null");
    struct pt_sink *sink = pt_sink_open(&nowhere, PT_SINK_PLAIN, options.max_bytes, &err);
    if (!sink)
        return;
    if (exporter->write(session, &options, sink, &summary, &err) < 0)
        pt_sink_abandon(sink);
    else
        pt_sink_close(sink, &result, &err);
}

void chain_export_one(struct pt_session *session, const char *folder, pt_u32 which)
{
    const struct pt_exporter *exporter = &pt_exporters[which % pt_n_exporters];
    export_one(session, exporter, folder, exporter->has_stacks && which / pt_n_exporters % 2);
}

void chain_export_all(struct pt_session *session, const char *folder)
{
    for (pt_u32 i = 0; i < 2 * pt_n_exporters; i++)
        if (i < pt_n_exporters || pt_exporters[i % pt_n_exporters].has_stacks)
            chain_export_one(session, folder, i);
}
