/* SPDX-License-Identifier: MIT
 *
 * wrappers.c - calls of a dynamically linked CUDA runtime, seen from outside.
 *
 * Entered by any thread of the host that calls libcudart. Each wrapper calls the real function exactly once with the
 * caller's arguments, and passes through while CUPTI sees the calls. A runtime that is linked in statically has no
 * symbols to stand before. Never claims to know what the GPU does, or when.
 */
#include <unistd.h>
#include <string.h>

#include "proftrace/events.h"
#include "proftrace/limits.h"
#include "core/emit.h"
#include "core/injection.h"
#include "core/names/intern.h"
#include "core/text.h"
#include "cupti/cupti.h"
#include "kernel_names.h"
#include "runtime.h"
#include "tracing.h"

/* ---- the runtime's own types: driver_types.h, vector_types.h ---- */

enum { CUDA_ERROR_INSUFFICIENT_DRIVER = 35, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_NOT_READY = 600 };
struct dim3 {
    unsigned x, y, z;
};
struct extent {
    size_t width, height, depth;
};
struct pitched {
    void *memory;
    size_t pitch, width, height;
};
struct launch_config {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
};
struct copy_3d {
    void *from_array;
    size_t from_position[3];
    struct pitched from;
    void *to_array;
    size_t to_position[3];
    struct pitched to;
    struct extent extent;
    int kind;
};
struct copy_3d_peer {
    void *from_array;
    size_t from_position[3];
    struct pitched from;
    int from_device;
    void *to_array;
    size_t to_position[3];
    struct pitched to;
    int to_device;
    struct extent extent;
};
struct operand {
    int type; /* 1 = a pointer, 2 = an array */
    size_t place[4];
};
struct batch_copy {
    struct operand from, to;
    struct extent extent;
    int access;
    unsigned flags;
};
struct memory_handle {
    char reserved[64];
};
struct channels { /* bits of each */
    int x, y, z, w, kind;
};

/* ---- what is recorded ---- */

enum {
#define CALL(name, class) CLASS_##name = PT_CUDA_##class,
#define NOISE(name)
#include "cuda_calls.def"
#undef CALL
#undef NOISE
};
/* Values that enum cudaMemcpyKind does not use: it has 0 to 4. */
enum { KIND_UNKNOWN = 4, KIND_PEER = 5, KIND_SET = 6 };
enum { ASYNC = 1, RELEASE = 1, BY_STREAM = 2 };
#define MEMORY(kind) (PT_CUDA_MEMORY_##kind << 8)

struct call {
    pt_u64 start, end; /* start 0 = passed through */
    const char *name;
    int result;
};

/* 0 or minus the error; "not ready" is no error. */
PT_ALWAYS_INLINE pt_u32 result_of(const struct call *call)
{
    return call->result == CUDA_ERROR_NOT_READY ? 0 : (pt_u32)-call->result;
}

static PT_NOINLINE void called(const struct call *call, pt_i32 class)
{
    pt_spent(PT_EV_cuda_call, call->start, call->end, class, pt_words(result_of(call), pt_intern_string(call->name)),
             0);
}

static pt_i32 copy_kind(int kind)
{
    static const pt_u8 kinds[] = {PT_CUDA_COPY_HTOH,
                                  PT_CUDA_COPY_HTOD,
                                  PT_CUDA_COPY_DTOH,
                                  PT_CUDA_COPY_DTOD,
                                  0 /* the runtime finds out by the addresses */,
                                  PT_CUDA_COPY_PTOP};
    return (unsigned)kind < sizeof kinds ? kinds[kind] << 8 : 0;
}

static PT_NOINLINE void transferred(const struct call *call, pt_i32 tag, pt_u64 bytes)
{
    pt_spent(PT_EV_cuda_transfer, call->start, call->end, tag, pt_words(result_of(call), pt_intern_string(call->name)),
             bytes);
}

static void copied(const struct call *call, int kind, pt_u64 bytes)
{
    transferred(call, copy_kind(kind), bytes);
}

static void copied_async(const struct call *call, int kind, pt_u64 bytes)
{
    transferred(call, copy_kind(kind) | ASYNC, bytes);
}

/* The width of an array counts elements, whose size is not known. */
static void copied_3d(const struct call *call, const struct copy_3d *copy, pt_i32 is_async)
{
    const struct extent none = {0, 0, 0};
    const int is_good = call->result == 0;
    const struct extent *e = is_good && !copy->from_array && !copy->to_array ? &copy->extent : &none;
    transferred(call, (is_good ? copy_kind(copy->kind) : 0) | is_async, e->width * e->height * e->depth);
}

static void copied_3d_peer(const struct call *call, const struct copy_3d_peer *copy, pt_i32 is_async)
{
    const int is_known = call->result == 0 && !copy->from_array && !copy->to_array;
    transferred(call, copy_kind(KIND_PEER) | is_async,
                is_known ? copy->extent.width * copy->extent.height * copy->extent.depth : 0);
}

static void copied_batch(const struct call *call, const size_t *sizes, size_t count)
{
    pt_u64 bytes = 0;
    for (size_t i = 0; call->result == 0 && i < count; i++)
        bytes += sizes[i];
    transferred(call, ASYNC, bytes);
}

/* As in copied_3d. */
static void copied_3d_batch(const struct call *call, const struct batch_copy *copies, size_t count)
{
    pt_u64 bytes = 0;
    for (size_t i = 0; call->result == 0 && i < count; i++) {
        const struct batch_copy *c = &copies[i];
        if (c->from.type != 1 || c->to.type != 1) {
            bytes = 0;
            break;
        }
        bytes += c->extent.width * c->extent.height * c->extent.depth;
    }
    transferred(call, ASYNC, bytes);
}

static PT_NOINLINE void at_address(const struct call *call, pt_i32 tag, const void *address, pt_u64 size)
{
    const pt_u64 kib = (size >> 10) + ((size & 1023) != 0);
    pt_spent(PT_EV_cuda_memory, call->start, call->end, tag, pt_words(result_of(call), kib < ~0u ? (pt_u32)kib : ~0u),
             (pt_u64)address);
}

static void allocated(const struct call *call, pt_i32 tag, void *const *address, pt_u64 size)
{
    at_address(call, tag, call->result == 0 ? *address : 0, size);
}

static void allocated_pitch(const struct call *call, void *const *address, const size_t *pitch, size_t height)
{
    allocated(call, MEMORY(DEVICE), address, call->result == 0 ? *pitch * height : 0);
}

static void allocated_3d(const struct call *call, const struct pitched *memory, const struct extent *extent)
{
    const int is_good = call->result == 0;
    at_address(call, MEMORY(DEVICE), is_good ? memory->memory : 0,
               is_good ? memory->pitch * extent->height * extent->depth : 0);
}

/* What has no height or depth says 0. */
static void allocated_array(const struct call *call, void *const *array, const struct channels *channels, size_t width,
                            size_t height, size_t depth)
{
    const int bits = call->result == 0 ? channels->x + channels->y + channels->z + channels->w : 0;
    allocated(call, MEMORY(ARRAY), array, (pt_u64)bits / 8 * width * (height ? height : 1) * (depth ? depth : 1));
}

/* ---- queries ---- */

/* 3 us of a TSC, 8 us of a clock in nanoseconds: the loop does nothing but query. And 11 us, 33 us. */
#define POLL_GAP_TICKS (1ull << 13)
#define POLL_LEAST_TICKS (1ull << 15)
static __thread struct {
    pt_u64 since, until; /* since 0 = the last answer was no "not ready" */
} poll __attribute__((tls_model("initial-exec")));

/* A single query costs nothing and means nothing. A thread that queries again and again until the GPU is done is
 * waiting for it: that is recorded as one wait when the GPU is done. A loop that sleeps between queries shows by its
 * sleeps, one that works between them by its work. */
static PT_NOINLINE void polled(const struct call *call, const char *name)
{
    /* A thread that polls for long may lose its CPU now and then. */
    const int is_loop = poll.since && call->start - poll.until <= POLL_GAP_TICKS + (poll.until - poll.since) / 4;
    if (!is_loop)
        poll.since = call->start;
    poll.until = call->end;
    if (call->result == CUDA_ERROR_NOT_READY)
        return;
    const struct call wait = {poll.since, call->end, name, call->result};
    poll.since = 0;
    if (is_loop && wait.end - wait.start >= POLL_LEAST_TICKS)
        called(&wait, PT_CUDA_SYNC);
}

/* ---- launches ---- */

static void add_three(struct pt_text *text, const struct dim3 *three)
{
    pt_text_number(text, three->x, 1);
    pt_text_byte(text, ',');
    pt_text_number(text, three->y, 1);
    pt_text_byte(text, ',');
    pt_text_number(text, three->z, 1);
}

/* Registers and static memory are known only to CUPTI. */
static PT_NOINLINE pt_u32 new_config(const struct dim3 *grid, const struct dim3 *block, size_t shared)
{
    char bytes[112];
    struct pt_text text = {bytes, 0, sizeof bytes};
    add_three(&text, grid);
    pt_text_byte(&text, ' ');
    add_three(&text, block);
    pt_text_add(&text, " ? ?+");
    pt_text_number(&text, shared, 1);
    return pt_intern_bytes(bytes, text.length);
}

/* A program launches a few configurations over and over: their texts are made once. An entry is half a hash and the id.
 */
static pt_u32 config_of(const struct dim3 *grid, const struct dim3 *block, size_t shared)
{
    static pt_u64 known[256];
    pt_u64 hash = shared;
    const unsigned dimensions[] = {grid->x, grid->y, grid->z, block->x, block->y, block->z};
    for (pt_u32 i = 0; i < 6; i++)
        hash = (hash ^ dimensions[i]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 31;
    pt_u64 *slot = &known[hash & 255];
    const pt_u64 entry = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (pt_likely(entry >> 32 == hash >> 32 && (pt_u32)entry))
        return (pt_u32)entry;
    const pt_u32 id = new_config(grid, block, shared);
    __atomic_store_n(slot, (hash >> 32) << 32 | id, __ATOMIC_RELAXED);
    return id;
}

static PT_NOINLINE void launched(const struct call *call, const void *function, const struct dim3 *grid,
                                 const struct dim3 *block, size_t shared, const void *stream)
{
    pt_spent(PT_EV_cuda_launch, call->start, call->end, 0, pt_words(result_of(call), pt_kernel_name(function)),
             pt_words(config_of(grid, block, shared), (pt_u32)(pt_u64)stream));
}

static void launched_by_config(const struct call *call, const void *function, const struct launch_config *config)
{
    static const struct launch_config unknown;
    const struct launch_config *c = call->result == 0 ? config : &unknown;
    launched(call, function, &c->grid, &c->block, c->shared, c->stream);
}

/* ---- the truthful sentence, once ---- */

/* The path of another tool, or that Nsight is at work, was recorded by the constructor. */
static const char *why_not_injected(void)
{
    const char *path = pt_text_value(environ, "CUDA_INJECTION64_PATH");
    if (!path && pt_of_nsight)
        return 0;
    if (!path)
        return "CUDA_INJECTION64_PATH was taken out of the environment";
    return strstr(path, PT_LIBRARY_NAME) ? "the CUDA driver has not loaded what CUDA_INJECTION64_PATH names" : 0;
}

static PT_NOINLINE void say_why(int result)
{
    const char *reason = result == CUDA_ERROR_NO_DEVICE ? "CUDA says that there is no device"
                         : result == CUDA_ERROR_INSUFFICIENT_DRIVER
                             ? "CUDA says that there is no driver, or too old a one"
                             : why_not_injected();
    if (reason)
        pt_cuda_say(PT_CUDA_TRACING_WRAPPED, reason);
    else
        pt_cuda_has_said = 1;
}

static PT_NOINLINE void say_something(const struct call *call)
{
    if (call->start)
        say_why(call->result);
    else if (pt_switches.user && !pt_switches.cuda)
        pt_cuda_say(PT_CUDA_TRACING_OFF, "PROFTRACE_CUDA is off");
}

/* ---- the wrappers ---- */

PT_ALWAYS_INLINE int is_seen_by_cupti(void)
{
    return __atomic_load_n(&pt_cuda_by_cupti, __ATOMIC_RELAXED);
}

PT_ALWAYS_INLINE struct call call_begins(const char *name)
{
    const int is_recorded = pt_switches.cuda && !is_seen_by_cupti();
    return (struct call){.name = name, .start = pt_likely(is_recorded) ? pt_clock() : 0};
}

/* CUPTI started within this call and has a record of it that begins then; the time before is recorded here. */
static PT_NOINLINE int initialised_cuda(const struct call *call)
{
    const pt_u64 ready = __atomic_load_n(&pt_cuda_ready_counter, __ATOMIC_ACQUIRE);
    if (ready <= call->start || ready > call->end)
        return 0;
    const struct call before = {call->start, ready, "initialization of CUDA", 0};
    called(&before, PT_CUDA_LOAD);
    return 1;
}

/* Is it to be recorded? */
PT_ALWAYS_INLINE int call_ends(struct call *call)
{
    if (!call->start)
        return 0;
    call->end = pt_clock();
    return pt_likely(!is_seen_by_cupti()) || !initialised_cuda(call);
}

PT_ALWAYS_INLINE void after_CALL(const struct call *call)
{
    if (pt_unlikely(!pt_cuda_has_said))
        say_something(call);
}

static void after_WAIT(const struct call *call)
{
    after_CALL(call);
    if (pt_switches.cuda)
        pt_cupti_tick();
}

#define WRAPPER(symbol, row, after, parameters, arguments, record)                                                     \
    PT_EXPORT int symbol parameters;                                                                                   \
    PT_EXPORT int symbol parameters                                                                                    \
    {                                                                                                                  \
        int(*const real) parameters =                                                                                  \
            (int(*) parameters)pt_cudart_of(__builtin_return_address(0))->functions[PT_CUDART_##symbol];               \
        struct call call = call_begins(#row);                                                                          \
        call.result = real arguments;                                                                                  \
        if (call_ends(&call))                                                                                          \
            record;                                                                                                    \
        after_##after(&call);                                                                                          \
        return call.result;                                                                                            \
    }
#define TWINS_none(name, after, parameters, arguments, record) WRAPPER(name, name, after, parameters, arguments, record)
#define TWINS_ptsz(name, after, parameters, arguments, record)                                                         \
    WRAPPER(name, name, after, parameters, arguments, record)                                                          \
    WRAPPER(name##_ptsz, name, after, parameters, arguments, record)
#define TWINS_ptds(name, after, parameters, arguments, record)                                                         \
    WRAPPER(name, name, after, parameters, arguments, record)                                                          \
    WRAPPER(name##_ptds, name, after, parameters, arguments, record)

#define WRAP(name, twin, parameters, arguments, record) TWINS_##twin(name, CALL, parameters, arguments, record)
#define WRAP_WAIT(name, twin, parameters, arguments, record) TWINS_##twin(name, WAIT, parameters, arguments, record)
#define OBSERVE(name)
#include "wrappers.def"
