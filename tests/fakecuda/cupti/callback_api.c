/* SPDX-License-Identifier: MIT
 *
 * callback_api.c - the Callback API of libcupti over the engine.
 */
#include "cupti.h"
#include "callback_data.h"
#include <stdio.h>

const char fakecupti_library; /* its address tells this library from another copy in the process */

int cuptiSubscribe(void **subscriber, fg_callback_function callback, void *user)
{
    int error = fakecupti_enter("cuptiSubscribe", true);
    if (!error && (!subscriber || !callback))
        error = CUPTI_ERROR_INVALID_PARAMETER;
    if (!error)
        error = fg_subscribe(callback, user, &fakecupti_library, NULL);
    if (!error)
        *subscriber = (void *)&fakecupti_library;
    return error;
}

#if FAKECUPTI_MAJOR >= 13
int cuptiSubscribe_v2(void **subscriber, fg_callback_function callback, void *user, struct fg_subscriber_params *params)
{
    int error = fakecupti_enter("cuptiSubscribe_v2", true);
    if (!error && (!subscriber || !callback || !params))
        error = CUPTI_ERROR_INVALID_PARAMETER;
    if (!error)
        error = fg_subscribe(callback, user, &fakecupti_library, params->subscriber_name);
    if (!error)
        *subscriber = (void *)&fakecupti_library;
    else if (error == 39 && params->old_subscriber_name)
        snprintf(params->old_subscriber_name, params->old_subscriber_size, "%s", fg_subscriber_name());
    return error;
}
#endif

static int check(const char *function, const void *subscriber)
{
    const int error = fakecupti_enter(function, true);
    return error ? error : subscriber == &fakecupti_library ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiUnsubscribe(void *subscriber)
{
    const int error = check("cuptiUnsubscribe", subscriber);
    return error ? error : fg_unsubscribe();
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
    const int error = check("cuptiEnableCallback", subscriber);
    return error ? error : fg_enable_callback(enable, domain, cbid);
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain)
{
    const int error = check("cuptiEnableDomain", subscriber);
    return error ? error : fg_enable_domain(enable, domain);
}

int cuptiEnableAllDomains(uint32_t enable, void *subscriber)
{
    int error = check("cuptiEnableAllDomains", subscriber);
    for (uint32_t domain = 1; !error && domain <= 6; domain++)
        error = fg_enable_domain(enable, domain);
    return error;
}

int cuptiGetCallbackState(uint32_t *enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
    const int error = check("cuptiGetCallbackState", subscriber);
    if (!error)
        *enable = fg_callback_state(domain, cbid);
    return error;
}

int cuptiSupportedDomains(size_t *n, const uint32_t **domains)
{
    static const uint32_t all[] = {1, 2, 3, 4, 5, 6};
    *n = sizeof all / sizeof *all;
    *domains = all;
    return CUPTI_SUCCESS;
}

/* Names of driver calls carry no suffix, those of the runtime the version that changed them last. */
int cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
    static __thread char text[8][96];
    static __thread int next;
    const int error = fg_planned_error("cuptiGetCallbackName");
    if (error || !name || !domain || domain > 2)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    const struct fg_api *api = fg_find_api((enum fg_domain)domain, cbid);
    if (!api)
        return CUPTI_ERROR_INVALID_PARAMETER;
    char *out = text[next++ % 8];
    snprintf(out, sizeof text[0], "%s%s", api->name, api->suffix);
    *name = out;
    return CUPTI_SUCCESS;
}

int cuptiFinalize(void)
{
    const int error = fakecupti_enter("cuptiFinalize", false);
    return error ? error : fg_finalize();
}
