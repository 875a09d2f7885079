/* SPDX-License-Identifier: MIT
 *
 * cupti/calls.c - which calls of CUDA are recorded, and what a call is by the number that CUPTI gives it.
 *
 * Versions of CUDA only add numbers, but our tables have names, so the running libcupti is asked for the name of each
 * number. Entered when recording begins, and by the decoder before it begins a delivery. Never records a function of
 * the driver that has no row.
 */
#include "calls.h"

#include "proftrace/cuda.h"
#include "core/names/intern.h"
#include "core/text.h"

struct row {
    const char *name;
    pt_u8 class;
    pt_u8 flags;
};
static const struct row rows[] = {
#define CALL(name, class) {#name, PT_CUDA_##class, PT_CALL_HAS_ROW},
#define NOISE(name) {#name, PT_CUDA_OTHER, PT_CALL_HAS_ROW | PT_CALL_NOISE},
#include "cuda/cuda_calls.def"
#undef CALL
#undef NOISE
};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length without one suffix: _ptsz, _ptds, _v2, _v13000. */
static pt_u64 without_suffix(const char *name, pt_u64 length)
{
    if (length > 5 && name[length - 5] == '_' && name[length - 4] == 'p' && name[length - 3] == 't')
        return length - 5;
    pt_u64 at = length;
    while (at && is_digit(name[at - 1]))
        at--;
    return at < length && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_' ? at - 2 : length;
}

/* The public name within `name`. */
static const char *plain_name(const char *name, pt_u64 *ret_length)
{
    static const char launch[] = "__cudaLaunchKernel";
    pt_u64 length = pt_text_length(name), before;
    do {
        before = length;
        length = without_suffix(name, length);
    } while (length != before);
    if (length == sizeof launch - 1 && __builtin_memcmp(name, launch, length) == 0) {
        name += 2;
        length -= 2;
    }
    *ret_length = length;
    return name;
}

static const struct row *find_row(const char *name, pt_u64 length)
{
    for (pt_u64 i = 0; i < sizeof rows / sizeof *rows; i++) {
        pt_u64 at = 0;
        while (at < length && rows[i].name[at] == name[at])
            at++;
        if (at == length && !rows[i].name[at])
            return &rows[i];
    }
    return 0;
}

static struct pt_cupti_call *call_of(struct pt_cupti *c, pt_u32 domain, pt_u32 cbid)
{
    return &c->calls[domain == PT_CUPTI_RUNTIME_API][cbid];
}

/* The row of our tables; 0 when CUPTI has no function of that number. */
static int classify(struct pt_cupti *c, pt_u32 domain, pt_u32 cbid)
{
    const char *name = 0;
    struct pt_cupti_call *call = call_of(c, domain, cbid);
    if (c->api.cuptiGetCallbackName(domain, cbid, &name) != PT_CUPTI_SUCCESS || !name)
        return 0;
    pt_u64 length;
    name = plain_name(name, &length);
    const struct row *row = find_row(name, length);
    call->class = row ? row->class : PT_CUDA_OTHER;
    call->flags = PT_CALL_KNOWN | (row ? row->flags : 0);
    return 1;
}

void pt_cupti_choose_calls(struct pt_cupti *c)
{
    for (pt_u32 cbid = 1; cbid < PT_CUPTI_CALLS; cbid++) {
        if (classify(c, PT_CUPTI_RUNTIME_API, cbid) && c->api.cuptiActivityEnableRuntimeApi &&
            call_of(c, PT_CUPTI_RUNTIME_API, cbid)->flags & PT_CALL_NOISE)
            c->api.cuptiActivityEnableRuntimeApi(cbid, 0);
        if (classify(c, PT_CUPTI_DRIVER_API, cbid) && c->api.cuptiActivityEnableDriverApi &&
            call_of(c, PT_CUPTI_DRIVER_API, cbid)->flags & PT_CALL_HAS_ROW &&
            c->api.cuptiActivityEnableDriverApi(cbid, 1) == PT_CUPTI_SUCCESS)
            __atomic_store_n(&c->driver_calls, PT_DRIVER_CALLS_CHOSEN, __ATOMIC_RELAXED);
    }
}

void pt_cupti_choose_callbacks(struct pt_cupti *c)
{
    for (pt_u32 domain = PT_CUPTI_DRIVER_API; domain <= PT_CUPTI_RUNTIME_API; domain++)
        for (pt_u32 cbid = 1; cbid < PT_CUPTI_CALLS; cbid++) {
            const struct pt_cupti_call *call = call_of(c, domain, cbid);
            if (call->flags & PT_CALL_HAS_ROW &&
                (call->class == PT_CUDA_SYNC || call->class == PT_CUDA_COPY || call->class == PT_CUDA_GRAPH_LAUNCH))
                c->api.cuptiEnableCallback(1, c->subscriber, domain, cbid);
        }
}

void pt_cupti_learn_call(struct pt_cupti *c, pt_u32 domain, pt_u32 cbid)
{
    struct pt_cupti_call *call = call_of(c, domain, cbid);
    const char *name = 0;
    if (__atomic_load_n(&call->name, __ATOMIC_RELAXED))
        return;
    if (c->api.cuptiGetCallbackName(domain, cbid, &name) != PT_CUPTI_SUCCESS || !name)
        name =
            domain == PT_CUPTI_RUNTIME_API ? "call of the runtime without a name" : "call of the driver without a name";
    pt_u64 length;
    name = plain_name(name, &length);
    __atomic_store_n(&call->name, pt_intern_bytes(name, length), __ATOMIC_RELAXED);
}
