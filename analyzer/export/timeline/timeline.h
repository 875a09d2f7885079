/* SPDX-License-Identifier: MIT
 *
 * timeline.h - a run shown by a writer.
 */
#ifndef PT_EXPORT_TIMELINE_TIMELINE_H
#define PT_EXPORT_TIMELINE_TIMELINE_H

#include "types.h"

int pt_timeline_export(struct pt_session *session, const struct pt_export_options *options,
                       const struct pt_timeline_writer *writer, struct pt_sink *sink,
                       struct pt_export_summary *ret_summary, struct pt_error *err);

#endif
