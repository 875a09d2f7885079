/* SPDX-License-Identifier: MIT
 *
 * subscriber.c - the one subscriber: callbacks at the entry and the exit of calls, and of resources.
 */
#include "machine.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DOMAINS = 8, CALLBACKS_MAX = 2048, RESOURCE = 3 };
enum { SUBSCRIBED_ALREADY = 39, INVALID_PARAMETER = 1, UNKNOWN_ERROR = 999 };

/* CUpti_CallbackData and CUpti_ResourceData; fakecuda.layouts compares them with the headers. */
#include "callback_data.h"

static _Atomic(fg_callback_function) callback;
static void *user;
static const void *library;
static char subscriber_name[64];
static _Atomic uint8_t enabled[DOMAINS][CALLBACKS_MAX];
static __thread bool is_in_exit_callback;

int fg_subscribe(fg_callback_function function, void *user_data, const void *from, const char *name)
{
    const struct fg_program *program = fg_program();
    if (program->fault[FG_FAULT_no_driver])
        return UNKNOWN_ERROR;
    if (program->fault[FG_FAULT_subscribe39] || callback)
        return SUBSCRIBED_ALREADY;
    user = user_data;
    library = from;
    snprintf(subscriber_name, sizeof subscriber_name, "CUPTI for %s", name ? name : "unnamed");
    callback = function;
    fg_witness("{\"what\":\"subscribed\",\"name\":\"%.40s\",\"tid\":%d}", name ? name : "", fg_thread());
    return 0;
}

const char *fg_subscriber_name(void)
{
    return callback ? subscriber_name : "Nsight Systems";
}

int fg_unsubscribe(void)
{
    callback = NULL;
    memset((void *)enabled, 0, sizeof enabled);
    fg_witness("{\"what\":\"unsubscribed\",\"tid\":%d}", fg_thread());
    return 0;
}

int fg_enable_callback(bool on, uint32_t domain, uint32_t cbid)
{
    if (!callback || !domain || domain >= DOMAINS || cbid >= CALLBACKS_MAX)
        return INVALID_PARAMETER;
    enabled[domain][cbid] = on;
    return 0;
}

int fg_enable_domain(bool on, uint32_t domain)
{
    if (!callback || !domain || domain >= DOMAINS)
        return INVALID_PARAMETER;
    for (uint32_t cbid = 0; cbid < CALLBACKS_MAX; cbid++)
        enabled[domain][cbid] = on;
    return 0;
}

bool fg_callback_state(uint32_t domain, uint32_t cbid)
{
    return domain < DOMAINS && cbid < CALLBACKS_MAX && enabled[domain][cbid];
}

bool fg_call_back(struct fg_call *call, bool is_exit)
{
    const fg_callback_function function = callback;
    if (!function || !fg_callback_state(call->api->domain, call->api->cbid))
        return false;
    struct fg_callback_data data = {
        .site = is_exit,
        .function_name = call->api->name,
        .return_value = is_exit ? &call->result : NULL,
        .context_id = (uint32_t)fg_context_id(0),
        .correlation_data = &call->correlation_data,
        .correlation_id = call->correlation,
    };
    is_in_exit_callback = is_exit;
    function(user, call->api->domain, call->api->cbid, &data);
    is_in_exit_callback = false;
    return true;
}

void fg_resource_callback(uint32_t cbid, int context_id, const void *stream)
{
    const fg_callback_function function = callback;
    const struct fg_resource_data data = {(void *)(intptr_t)context_id, (void *)(uintptr_t)stream, NULL};
    if (function && fg_callback_state(RESOURCE, cbid))
        function(user, RESOURCE, cbid, &data);
}

bool fg_in_exit_callback(void)
{
    return is_in_exit_callback;
}

int fg_finalize(void)
{
    while (fg_program()->fault[FG_FAULT_finalize_hang])
        pause();
    if (callback && !is_in_exit_callback) {
        fprintf(stderr, "fakecupti: cuptiFinalize outside of an API exit callback crashes\n");
        abort();
    }
    fg_flush(true);
    for (uint32_t kind = 1; kind <= FG_KIND_GRAPH_TRACE; kind++)
        fg_enable(kind, false);
    return fg_unsubscribe();
}
