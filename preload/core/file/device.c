/* SPDX-License-Identifier: MIT
 *
 * device.c - slots for records that lie in no thread's order.
 *
 * Entered by any thread, CUPTI's own included, with nothing held. Never: waits for a slot; sixteen deliveries at once
 * are more than CUPTI has threads.
 */
#include "device.h"

#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "attach.h"
#include "image_state.h"

struct new_slot_call {
    struct pt_private *priv;
    struct pt_tracer_thread *result;
    pt_u32 tid;
    pt_u32 pad0;
};

static void make_slot(void *argument)
{
    struct new_slot_call *call = argument;
    call->result = pt_device_slot_new(call->tid, call->priv);
}

static struct pt_tracer_thread *slot_of(pt_u32 index)
{
    struct pt_device_slot *device = &pt_image->devices[index];
    if (device->thread)
        return device->thread;
    struct new_slot_call call = {.priv = pt_private_new(), .tid = PT_DEVICE_TID + index};
    if (!call.priv)
        return 0;
    pt_on_private_stack(call.priv, make_slot, &call);
    if (!call.result)
        pt_syscall2(SYS_munmap, call.priv, sizeof *call.priv);
    device->thread = call.result;
    return call.result;
}

struct pt_delivery pt_delivery_begin(void)
{
    struct pt_delivery delivery = {.self = pt_self, .mask = PT_SIGNALS_AS_THEY_WERE};
    if (pt_switches.off || !pt_image || !pt_local_is_ours() || !pt_may_call())
        return delivery;
    delivery.mask = pt_signals_block();
    for (pt_u32 i = 0; i < PT_MAX_DELIVERIES && !delivery.slot; i++) {
        if (__atomic_exchange_n(&pt_image->devices[i].busy, 1, __ATOMIC_ACQUIRE))
            continue;
        delivery.index = i;
        delivery.slot = slot_of(i);
        if (!delivery.slot) {
            __atomic_store_n(&pt_image->devices[i].busy, 0, __ATOMIC_RELEASE);
            break;
        }
    }
    if (delivery.slot)
        pt_set_self(delivery.slot);
    return delivery;
}

void pt_delivery_end(const struct pt_delivery *delivery)
{
    if (delivery->slot) {
        pt_set_self(delivery->self);
        __atomic_store_n(&pt_image->devices[delivery->index].busy, 0, __ATOMIC_RELEASE);
    }
    pt_signals_restore(delivery->mask);
}
