/* SPDX-License-Identifier: MIT
 *
 * layouts_check.c - compares the rows of layouts.def and our other declarations with NVIDIA's headers, at compile time.
 * Built only where a toolkit is installed; compiling it is the test.
 */
#include <cupti.h>
#include <stddef.h>
#include "callback_data.h"

/* Each struct of each version has the size that we write. */
#define RECORD(record, newest) typedef CUpti_Activity##newest newest_##record;
#define STRUCT(record, type, since, bytes) _Static_assert(sizeof(CUpti_Activity##type) == bytes, #type);
#define FIELD(record, type, since, field, path, offset, bytes)
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD

/* Each field is where we write it, in the first struct that has it and in the newest. */
#define RECORD(record, newest)
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes)                                                         \
    _Static_assert(offsetof(CUpti_Activity##type, path) == offset, #type "." #path);                                   \
    _Static_assert(sizeof(((CUpti_Activity##type *)0)->path) == bytes, #type "." #path);                               \
    _Static_assert(offsetof(newest_##record, path) == offset, #record "." #path);
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD

#define SAME(theirs, their_field, ours, our_field)                                                                     \
    _Static_assert(offsetof(theirs, their_field) == offsetof(struct ours, our_field), #theirs "." #their_field)
SAME(CUpti_CallbackData, callbackSite, fg_callback_data, site);
SAME(CUpti_CallbackData, functionName, fg_callback_data, function_name);
SAME(CUpti_CallbackData, functionReturnValue, fg_callback_data, return_value);
SAME(CUpti_CallbackData, context, fg_callback_data, context);
SAME(CUpti_CallbackData, contextUid, fg_callback_data, context_id);
SAME(CUpti_CallbackData, correlationData, fg_callback_data, correlation_data);
SAME(CUpti_CallbackData, correlationId, fg_callback_data, correlation_id);
SAME(CUpti_ResourceData, context, fg_resource_data, context);
SAME(CUpti_ResourceData, resourceHandle.stream, fg_resource_data, stream);
SAME(CUpti_ResourceData, resourceDescriptor, fg_resource_data, descriptor);
#if CUPTI_API_VERSION >= 130000
SAME(CUpti_SubscriberParams, subscriberName, fg_subscriber_params, subscriber_name);
SAME(CUpti_SubscriberParams, oldSubscriberName, fg_subscriber_params, old_subscriber_name);
SAME(CUpti_SubscriberParams, oldSubscriberSize, fg_subscriber_params, old_subscriber_size);
_Static_assert(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER == 9, "attribute");
#endif
