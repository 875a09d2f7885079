/* SPDX-License-Identifier: MIT
 *
 * span.h - spans as OTLP/JSON: lines that each are a request as a collector takes it, with spans of one stage.
 */
#ifndef PT_EXPORT_OTLP_SPAN_H
#define PT_EXPORT_OTLP_SPAN_H

#include "export/export.h"
#include "util/json/json_writer.h"

struct pt_otlp {
    struct pt_session *session;
    struct pt_json json;
    const char *service; /* of the spans that follow */
    pt_u32 n_spans;      /* on the line that is open; 0 = none is */
    pt_u64 trace_id[2];
};

struct pt_otlp_span {
    pt_u64 id, parent; /* parent 0 = none */
    const char *name;
    pt_i64 start_ns, end_ns;
    bool end_is_guessed; /* nothing said when it ended */
    bool has_failed;
    const char *failure;            /* NULL = unknown */
    const char *keys[4], *texts[4]; /* attributes; key NULL = none */
    const char *number_keys[4];
    pt_i64 numbers[4];
};

void pt_otlp_open(struct pt_otlp *otlp, struct pt_session *session, struct pt_sink *sink);
/* The spans that follow are of this stage; NULL = of the run. */
void pt_otlp_service(struct pt_otlp *otlp, const char *stage);
void pt_otlp_span(struct pt_otlp *otlp, const struct pt_otlp_span *span);
void pt_otlp_close(struct pt_otlp *otlp);

#endif
