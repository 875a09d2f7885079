/* SPDX-License-Identifier: MIT
 *
 * buffers.c - the client's buffers: requested on the thread that records, filled in order, kept until their records are
 * complete. One for all threads, or one for each (the default since 13.0).
 */
#include "machine.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_VERSION_THAT_TAKES_NULL = 27, ATTR_ZEROED = 5, ATTR_PER_THREAD = 9, ATTRIBUTES = 10 };

static pthread_mutex_t cupti_lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static fg_request_function request_function;
static fg_complete_function complete_function;
static struct fg_buffer *buffers; /* in the order of their first record */
static uint64_t n_requested;
static atomic_size_t n_dropped;
static atomic_int n_delivering; /* taken, and not yet with the client */
static uint64_t attributes[ATTRIBUTES] = {3u << 20, 8u << 20, 250, 65536, 250, 0, 3, 3, 0, 2 /* by version */};
static __thread bool is_in_buffer_callback;
static pthread_key_t thread_end;

static void close_at_thread_end(void *thread)
{
    fg_close_thread_buffer((int)(intptr_t)thread);
}

static void initialize(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&cupti_lock, &recursive);
    pthread_key_create(&thread_end, close_at_thread_end);
}

void fg_cupti_lock(void)
{
    pthread_once(&once, initialize);
    pthread_mutex_lock(&cupti_lock);
}

void fg_cupti_unlock(void)
{
    pthread_mutex_unlock(&cupti_lock);
}

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "fakecupti: %s%s\n", what, detail);
    abort();
}

void fg_refuse_in_buffer_callback(const char *function)
{
    if (is_in_buffer_callback)
        fail("deadlock: called from within a buffer callback, where CUPTI holds its locks: ", function);
}

int fg_register_buffers(fg_request_function request, fg_complete_function complete)
{
    fg_cupti_lock();
    request_function = request;
    complete_function = complete;
    fg_cupti_unlock();
    fg_take_clock_pair();
    return 0;
}

static bool is_per_thread(void)
{
    return attributes[ATTR_PER_THREAD] == 2 ? fg_cupti_version() >= 130000 : attributes[ATTR_PER_THREAD] != 0;
}

int fg_set_attribute(uint32_t attribute, const void *value, size_t bytes, bool set, void *out)
{
    enum { INVALID_PARAMETER = 1, SIZE_NOT_SUFFICIENT = 10 };
    if (attribute >= ATTRIBUTES || (attribute == ATTR_PER_THREAD && fg_cupti_version() < 20))
        return INVALID_PARAMETER;
    const size_t needed = attribute == ATTR_ZEROED || attribute >= 8 ? 1 : sizeof(size_t);
    if (bytes < needed)
        return SIZE_NOT_SUFFICIENT;
    if (set) {
        attributes[attribute] = 0;
        memcpy(&attributes[attribute], value, needed);
    } else {
        const uint64_t shown = attribute == ATTR_PER_THREAD ? is_per_thread() : attributes[attribute];
        memcpy(out, &shown, needed);
    }
    return 0;
}

/* Calls the client, with or without the lock held; the lock is held before and after. */
static void call_request(uint8_t **data, size_t *bytes, size_t *max_records)
{
    const bool keeps_lock = fg_program()->fault[FG_FAULT_callbacks_in_lock];
    const fg_request_function function = request_function;
    if (!keeps_lock)
        fg_cupti_unlock();
    is_in_buffer_callback = true;
    const int saved = errno;
    function(data, bytes, max_records);
    errno = saved;
    is_in_buffer_callback = false;
    if (!keeps_lock)
        fg_cupti_lock();
}

void fg_call_request(uint8_t **data, size_t *bytes)
{
    size_t max_records;
    fg_cupti_lock();
    if (request_function)
        call_request(data, bytes, &max_records);
    fg_cupti_unlock();
}

void fg_call_complete(uint8_t *data, size_t bytes, size_t valid)
{
    const bool keeps_lock = fg_program()->fault[FG_FAULT_callbacks_in_lock];
    if (keeps_lock)
        fg_cupti_lock();
    is_in_buffer_callback = true;
    fg_witness("{\"what\":\"delivered\",\"bytes\":%zu,\"tid\":%d}", valid, fg_thread());
    if (complete_function)
        complete_function(NULL, 0, data, bytes, valid);
    is_in_buffer_callback = false;
    if (keeps_lock)
        fg_cupti_unlock();
}

static void check_zeroed(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i])
            fail("the client promised zeroed buffers and gave another", "");
}

static struct fg_buffer *request_buffer(int owner)
{
    uint8_t *data = NULL;
    size_t bytes = 0, max_records = 0;
    call_request(&data, &bytes, &max_records);
    if (!data && fg_cupti_version() < FIRST_VERSION_THAT_TAKES_NULL)
        fail("the request callback gave no buffer, which crashes CUPTI before 12.9", "");
    if (!data)
        return NULL;
    if ((uintptr_t)data % 8)
        fail("the client's buffer is not aligned to 8 bytes", "");
    if (attributes[ATTR_ZEROED])
        check_zeroed(data, bytes);
    else
        memset(data, 0, bytes);
    struct fg_buffer *buffer = calloc(1, sizeof *buffer), **end = &buffers;
    const size_t few = (size_t)fg_program()->fault[FG_FAULT_small_buffers];
    buffer->data = data;
    buffer->bytes = bytes;
    buffer->max_records = few ? few : max_records;
    buffer->owner = owner;
    buffer->serial = ++n_requested;
    while (*end)
        end = &(*end)->next;
    *end = buffer;
    return buffer;
}

static struct fg_buffer *open_buffer(int owner)
{
    for (struct fg_buffer *buffer = buffers; buffer; buffer = buffer->next)
        if (!buffer->is_full && buffer->owner == owner)
            return buffer;
    return NULL;
}

static bool has_room(const struct fg_buffer *buffer, size_t bytes)
{
    return buffer->used + bytes <= buffer->bytes && (!buffer->max_records || buffer->n_records < buffer->max_records);
}

/* A place for the record, or NULL when it is dropped; with the lock held. */
static struct fg_buffer *place(size_t bytes)
{
    const int owner = is_per_thread() ? fg_thread() : 0;
    struct fg_buffer *buffer = open_buffer(owner);
    if (owner && !pthread_getspecific(thread_end))
        pthread_setspecific(thread_end, (void *)(intptr_t)owner);
    if (buffer && !has_room(buffer, bytes)) {
        buffer->is_full = true;
        buffer = NULL;
    }
    if (!buffer && request_function)
        buffer = request_buffer(owner);
    if (!buffer || !has_room(buffer, bytes)) {
        n_dropped++;
        return NULL;
    }
    return buffer;
}

static size_t append(struct fg_buffer *buffer, const void *data, size_t bytes)
{
    const size_t at = buffer->used;
    memcpy(buffer->data + at, data, bytes);
    buffer->used += bytes;
    buffer->n_records++;
    return at;
}

void fg_put(const struct fg_record *record)
{
    fg_cupti_lock();
    struct fg_buffer *buffer = place(record->bytes);
    if (buffer)
        append(buffer, record->data, record->bytes);
    fg_cupti_unlock();
}

static void put_unknown(void)
{
    uint8_t data[32];
    const uint32_t kind = FG_KIND_UNKNOWN;
    memset(data, 0xA5, sizeof data);
    memcpy(data, &kind, sizeof kind);
    struct fg_buffer *buffer = place(sizeof data);
    if (buffer)
        append(buffer, data, sizeof data);
}

void fg_put_timed(const struct fg_record *record, enum fg_field start, enum fg_field end, uint64_t start_ns,
                  uint64_t end_ns, bool is_kernel)
{
    if (fg_fault_due(FG_FAULT_drop)) {
        n_dropped++;
        return;
    }
    fg_cupti_lock();
    if (fg_fault_due(FG_FAULT_unknown_kind))
        put_unknown();
    struct fg_buffer *buffer = place(record->bytes);
    if (buffer) {
        if (buffer->n_fixups == buffer->fixups_max) {
            buffer->fixups_max = buffer->fixups_max ? 2 * buffer->fixups_max : 64;
            buffer->fixups = realloc(buffer->fixups, buffer->fixups_max * sizeof *buffer->fixups);
        }
        const size_t at = append(buffer, record->data, record->bytes);
        buffer->fixups[buffer->n_fixups++] = (struct fg_fixup){at, start, end, start_ns, end_ns, is_kernel};
        if (buffer->ready_ns < end_ns)
            buffer->ready_ns = end_ns;
    }
    fg_cupti_unlock();
}

uint64_t fg_newest_buffer(void)
{
    fg_cupti_lock();
    const uint64_t newest = n_requested;
    fg_cupti_unlock();
    return newest;
}

struct fg_buffer *fg_take_buffer(bool full_only, bool is_forced, uint64_t newest)
{
    const uint64_t now_ns = fg_now_ns();
    struct fg_buffer *taken = NULL;
    fg_cupti_lock();
    for (struct fg_buffer **at = &buffers; *at; at = &(*at)->next) {
        struct fg_buffer *buffer = *at;
        if (buffer->serial > newest || (full_only && !buffer->is_full) || (!is_forced && buffer->ready_ns > now_ns))
            continue;
        *at = buffer->next;
        taken = buffer;
        n_delivering++;
        break;
    }
    fg_cupti_unlock();
    return taken;
}

void fg_close_thread_buffer(int thread)
{
    fg_cupti_lock();
    for (struct fg_buffer *buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->owner == thread)
            buffer->is_full = true;
    fg_cupti_unlock();
}

void fg_delivered(void)
{
    n_delivering--;
}

void fg_await_deliveries(void)
{
    while (n_delivering)
        fg_busy(20000);
}

size_t fg_take_dropped(void)
{
    return atomic_exchange(&n_dropped, 0);
}
