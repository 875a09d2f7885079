/* SPDX-License-Identifier: MIT
 *
 * span.c - Owns: the line that is open. One thread. Never: makes a line that a collector refuses for its size. */
#include "span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/hash.h"

enum { SPANS_OF_LINE = 500 };
enum { KIND_INTERNAL = 1, STATUS_ERROR = 2 }; /* of opentelemetry/proto/trace/v1/trace.proto */

/* Of the name, which differs from run to run. */
static pt_u64 hash(const char *text, pt_u64 seed)
{
    const pt_u64 value = pt_hash_text(text, PT_HASH_OF_TEXT ^ seed);
    return value ? value : 1;
}

void pt_otlp_open(struct pt_otlp *otlp, struct pt_session *session, struct pt_sink *sink)
{
    otlp->session = session;
    otlp->trace_id[0] = hash(session->name, session->start_realtime_ns);
    otlp->trace_id[1] = hash(session->name, ~session->start_realtime_ns);
    pt_json_init(&otlp->json, pt_sink_put, sink, false);
}

static void put_text(struct pt_json *json, const char *key, const char *text)
{
    if (!text)
        return;
    pt_json_object(json, NULL);
    pt_json_text(json, "key", key);
    pt_json_object(json, "value");
    pt_json_text(json, "stringValue", text);
    pt_json_end(json);
    pt_json_end(json);
}

/* JSON of protobuf has integers of 64 bits as texts. */
static void put_number(struct pt_json *json, const char *key, pt_i64 number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    pt_json_object(json, NULL);
    pt_json_text(json, "key", key);
    pt_json_object(json, "value");
    pt_json_text(json, "intValue", text);
    pt_json_end(json);
    pt_json_end(json);
}

static void begin_line(struct pt_otlp *otlp)
{
    struct pt_json *json = &otlp->json;
    pt_json_object(json, NULL);
    pt_json_array(json, "resourceSpans");
    pt_json_object(json, NULL);
    pt_json_object(json, "resource");
    pt_json_array(json, "attributes");
    put_text(json, "service.name", otlp->service);
    put_text(json, "proftrace.run", otlp->session->name);
    pt_json_end(json);
    pt_json_end(json);
    pt_json_array(json, "scopeSpans");
    pt_json_object(json, NULL);
    pt_json_object(json, "scope");
    pt_json_text(json, "name", "proftrace");
    pt_json_text(json, "version", PROFTRACE_VERSION);
    pt_json_end(json);
    pt_json_array(json, "spans");
}

static void end_line(struct pt_otlp *otlp)
{
    if (otlp->n_spans) {
        for (int i = 0; i < 6; i++)
            pt_json_end(&otlp->json);
        pt_json_line(&otlp->json);
    }
    otlp->n_spans = 0;
}

void pt_otlp_service(struct pt_otlp *otlp, const char *stage)
{
    end_line(otlp);
    otlp->service = stage ? stage : "proftrace";
}

static void put_instant(const struct pt_otlp *otlp, const char *key, pt_i64 ns, struct pt_json *json)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, otlp->session->start_realtime_ns + (pt_u64)ns);
    pt_json_text(json, key, text);
}

static void put_attributes(struct pt_json *json, const struct pt_otlp_span *span)
{
    pt_json_array(json, "attributes");
    for (int i = 0; i < 4 && span->keys[i]; i++)
        put_text(json, span->keys[i], span->texts[i]);
    for (int i = 0; i < 4 && span->number_keys[i]; i++)
        put_number(json, span->number_keys[i], span->numbers[i]);
    if (span->end_is_guessed)
        put_text(json, "proftrace.end", "not recorded: that of its thread, or where events are missing");
    pt_json_end(json);
}

void pt_otlp_span(struct pt_otlp *otlp, const struct pt_otlp_span *span)
{
    struct pt_json *json = &otlp->json;
    char id[40];
    if (!otlp->n_spans)
        begin_line(otlp);
    pt_json_object(json, NULL);
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, otlp->trace_id[0], otlp->trace_id[1]);
    pt_json_text(json, "traceId", id);
    snprintf(id, sizeof id, "%016" PRIx64, span->id);
    pt_json_text(json, "spanId", id);
    if (span->parent) {
        snprintf(id, sizeof id, "%016" PRIx64, span->parent);
        pt_json_text(json, "parentSpanId", id);
    }
    pt_json_text(json, "name", span->name && *span->name ? span->name : "(unknown)");
    pt_json_u64(json, "kind", KIND_INTERNAL);
    put_instant(otlp, "startTimeUnixNano", span->start_ns, json);
    put_instant(otlp, "endTimeUnixNano", span->end_ns > span->start_ns ? span->end_ns : span->start_ns, json);
    put_attributes(json, span);
    pt_json_object(json, "status");
    if (span->has_failed) {
        pt_json_u64(json, "code", STATUS_ERROR);
        pt_json_text(json, "message", span->failure ? span->failure : "");
    }
    pt_json_end(json);
    pt_json_end(json);
    if (++otlp->n_spans == SPANS_OF_LINE)
        end_line(otlp);
}

void pt_otlp_close(struct pt_otlp *otlp)
{
    end_line(otlp);
    pt_json_close(&otlp->json);
}
