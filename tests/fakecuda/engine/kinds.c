/* SPDX-License-Identifier: MIT
 *
 * kinds.c - which records the client wants: kinds, single calls, thread ids, and external correlation ids.
 */
#include "machine.h"
#include <stdatomic.h>
#include <unistd.h>

enum { CALLS_MAX = 2048, EXTERNAL_KINDS = 16, EXTERNAL_DEPTH = 64 };
enum { INVALID_PARAMETER = 1, NOT_SUPPORTED = 27, INVALID_KIND = 21, QUEUE_EMPTY = 18, UNKNOWN_ERROR = 999 };
enum choice { AS_KIND, ON, OFF };

static atomic_bool kinds[FG_KINDS_MAX];
static _Atomic uint8_t calls[3][CALLS_MAX];
static atomic_int n_single_calls[3];
static atomic_bool has_system_ids, wants_unready = true;
static __thread uint64_t external[EXTERNAL_KINDS][EXTERNAL_DEPTH];
static __thread int n_external[EXTERNAL_KINDS];

bool fg_wants(enum fg_kind kind)
{
    return kind < FG_KINDS_MAX && kinds[kind];
}

static bool is_kind_of_calls(enum fg_domain domain)
{
    return fg_wants(domain == FG_RUNTIME_API ? FG_KIND_RUNTIME : FG_KIND_DRIVER);
}

bool fg_wants_call(const struct fg_api *api)
{
    const enum choice choice = calls[api->domain][api->cbid % CALLS_MAX];
    return choice == ON || (choice == AS_KIND && is_kind_of_calls(api->domain));
}

static uint32_t first_version(uint32_t kind)
{
    switch (kind) {
    case FG_KIND_MEMORY2:
    case FG_KIND_MEMORY_POOL:
        return 15;
    case FG_KIND_GRAPH_TRACE:
        return 17;
    case 52: /* JIT */
        return 20;
    case 53: /* device graph trace */
    case 54: /* memory decompression */
        return 26;
    default:
        return 0;
    }
}

/* A kind that is switched as a whole overrides what was said about single calls before. */
static void forget_single_calls(enum fg_domain domain)
{
    for (int cbid = 0; cbid < CALLS_MAX; cbid++)
        calls[domain][cbid] = AS_KIND;
    n_single_calls[domain] = 0;
}

int fg_enable(uint32_t kind, bool on)
{
    const struct fg_program *program = fg_program();
    if (program->fault[FG_FAULT_no_driver])
        return UNKNOWN_ERROR;
    if (on && program->fault[FG_FAULT_enable])
        return (int)program->fault[FG_FAULT_enable];
    if (!kind || kind > 54 || first_version(kind) > fg_cupti_version())
        return INVALID_KIND;
    kinds[kind] = on;
    if (kind == FG_KIND_RUNTIME || kind == FG_KIND_DRIVER)
        forget_single_calls(kind == FG_KIND_RUNTIME ? FG_RUNTIME_API : FG_DRIVER_API);
    if (kind == FG_KIND_MEMCPY)
        kinds[FG_KIND_MEMCPY2] = on;
    if (on)
        fg_worker_start();
    if (on && (kind == FG_KIND_DEVICE || kind == FG_KIND_CONTEXT))
        fg_announce_devices(kind);
    return 0;
}

int fg_enable_call(enum fg_domain domain, uint32_t cbid, bool on)
{
    if (fg_cupti_version() < 23)
        return NOT_SUPPORTED;
    if (!cbid || cbid >= CALLS_MAX)
        return INVALID_PARAMETER;
    const uint8_t before = atomic_exchange(&calls[domain][cbid], on ? ON : OFF);
    n_single_calls[domain] += (on ? 1 : 0) - (before == ON ? 1 : 0);
    return 0;
}

void fg_enable_unready(bool on)
{
    wants_unready = on;
}

bool fg_wants_unready(void)
{
    return wants_unready;
}

void fg_set_system_thread_ids(bool on)
{
    has_system_ids = on;
}

bool fg_has_system_thread_ids(void)
{
    return has_system_ids;
}

uint32_t fg_thread_id(void)
{
    return has_system_ids ? (uint32_t)fg_thread() : (uint32_t)pthread_self();
}

uint32_t fg_visible_correlation(const struct fg_call *call)
{
    const bool has_ids = fg_wants(FG_KIND_RUNTIME) || fg_wants(FG_KIND_DRIVER) || n_single_calls[FG_RUNTIME_API] ||
                         n_single_calls[FG_DRIVER_API];
    return has_ids ? call->correlation : 0;
}

int fg_push_external(uint32_t kind, uint64_t id)
{
    if (kind >= EXTERNAL_KINDS || n_external[kind] == EXTERNAL_DEPTH)
        return INVALID_PARAMETER;
    external[kind][n_external[kind]++] = id;
    return 0;
}

int fg_pop_external(uint32_t kind, uint64_t *id)
{
    if (kind >= EXTERNAL_KINDS)
        return INVALID_PARAMETER;
    if (!n_external[kind])
        return QUEUE_EMPTY;
    n_external[kind]--;
    if (id)
        *id = external[kind][n_external[kind]];
    return 0;
}

void fg_record_call(const struct fg_call *call, uint64_t end_stamp)
{
    struct fg_record record;
    for (uint32_t kind = 0; fg_wants(FG_KIND_EXTERNAL_CORRELATION) && kind < EXTERNAL_KINDS; kind++) {
        if (!n_external[kind])
            continue;
        fg_record_begin(&record, FG_LAYOUT_EXTERNAL_CORRELATION, FG_KIND_EXTERNAL_CORRELATION);
        fg_set(&record, FG_EXTERNAL_CORRELATION_externalKind, kind);
        fg_set(&record, FG_EXTERNAL_CORRELATION_externalId, external[kind][n_external[kind] - 1]);
        fg_set(&record, FG_EXTERNAL_CORRELATION_correlationId, call->correlation);
        fg_put(&record);
    }
    fg_record_begin(&record, FG_LAYOUT_API, call->api->domain == FG_RUNTIME_API ? FG_KIND_RUNTIME : FG_KIND_DRIVER);
    fg_set(&record, FG_API_cbid, call->api->cbid);
    fg_set(&record, FG_API_start, call->start_stamp);
    fg_set(&record, FG_API_end, end_stamp);
    fg_set(&record, FG_API_processId, (uint64_t)getpid());
    fg_set(&record, FG_API_threadId, fg_thread_id());
    fg_set(&record, FG_API_correlationId, call->correlation);
    fg_set(&record, FG_API_returnValue, (uint32_t)call->result);
    fg_put(&record);
}
