/* SPDX-License-Identifier: MIT
 *
 * device.c - the current device of each thread, and the context that its first use creates.
 */
#include "machine.h"
#include <stdatomic.h>

pthread_mutex_t fg_machine_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread int current;
static atomic_bool has_context[FG_DEVICES_MAX];

static void use(int device)
{
    if (atomic_exchange(&has_context[device], true))
        return;
    fg_record_device(device);
    fg_record_context(device);
    fg_resource_callback(1, fg_context_id(device), NULL);
}

int fg_device(void)
{
    use(current);
    return current;
}

int fg_set_device(int device)
{
    if (device < 0 || device >= fg_program()->n_devices)
        return FG_INVALID_DEVICE;
    current = device;
    return FG_OK;
}

int fg_context_id(int device)
{
    return device + 1;
}

uint64_t fg_device_end(int device)
{
    uint64_t end_ns = 0;
    pthread_mutex_lock(&fg_machine_lock);
    for (struct fg_stream *stream = fg_streams(); stream; stream = stream->next)
        if (stream->device == device && stream->end_ns > end_ns)
            end_ns = stream->end_ns;
    pthread_mutex_unlock(&fg_machine_lock);
    return end_ns;
}

void fg_announce_devices(uint32_t kind)
{
    for (int device = 0; device < fg_program()->n_devices; device++) {
        if (!has_context[device])
            continue;
        if (kind == FG_KIND_DEVICE)
            fg_record_device(device);
        else
            fg_record_context(device);
    }
}
