/* SPDX-License-Identifier: MIT
 *
 * callback_data.h - what a callback is given: our declarations of CUpti_CallbackData, CUpti_ResourceData and
 * CUpti_SubscriberParams.
 */
#ifndef FAKEGPU_CALLBACK_DATA_H
#define FAKEGPU_CALLBACK_DATA_H

#include <stddef.h>
#include <stdint.h>

struct fg_callback_data {
    uint32_t site; /* 0 enter, 1 exit */
    const char *function_name;
    const void *parameters;
    void *return_value;
    const char *symbol_name;
    void *context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation_id;
};
struct fg_resource_data {
    void *context, *stream, *descriptor;
};
struct fg_subscriber_params {
    size_t struct_size;
    const char *subscriber_name;
    char *old_subscriber_name;
    size_t old_subscriber_size;
};

#endif
