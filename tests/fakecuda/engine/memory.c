/* SPDX-License-Identifier: MIT
 *
 * memory.c - allocations and the limit of the device. Device memory is address space that can be touched, so that small
 * copies can move real bytes; it is mapped by raw system calls, as the driver maps it behind libc's back.
 */
#include "machine.h"
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *tree; /* of struct fg_allocation, by address; machine's lock held */
static uint64_t used_bytes[FG_DEVICES_MAX];

/* Two ranges that overlap compare as equal, so that any address within finds its allocation. */
static int compare(const void *a, const void *b)
{
    const struct fg_allocation *x = a, *y = b;
    const uintptr_t from_x = (uintptr_t)x->address, from_y = (uintptr_t)y->address;
    if (from_x + x->bytes <= from_y)
        return -1;
    return from_y + y->bytes <= from_x ? 1 : 0;
}

static bool is_on_device(const struct fg_allocation *allocation)
{
    return allocation->kind == FG_DEVICE || allocation->kind == FG_MANAGED;
}

bool fg_find_memory(const void *address, struct fg_allocation *found)
{
    const struct fg_allocation key = {.address = (void *)(uintptr_t)address, .bytes = 1};
    pthread_mutex_lock(&fg_machine_lock);
    struct fg_allocation **at = tfind(&key, &tree, compare);
    if (at)
        *found = **at;
    pthread_mutex_unlock(&fg_machine_lock);
    return at != NULL;
}

static void insert(const struct fg_allocation *allocation)
{
    struct fg_allocation *copy = malloc(sizeof *copy);
    *copy = *allocation;
    pthread_mutex_lock(&fg_machine_lock);
    tsearch(copy, &tree, compare);
    pthread_mutex_unlock(&fg_machine_lock);
}

static void witness(const char *what, const struct fg_call *call, const struct fg_allocation *allocation)
{
    if (fg_has_witness())
        fg_witness("{\"what\":\"%s\",\"address\":%llu,\"bytes\":%llu,\"kind\":%d,\"device\":%d,\"pool\":%llu,"
                   "\"pool_bytes\":%llu,\"tid\":%d,\"correlation\":%u,\"at_ns\":%llu}",
                   what, (unsigned long long)(uintptr_t)allocation->address, (unsigned long long)allocation->bytes,
                   allocation->kind, allocation->device, (unsigned long long)(uintptr_t)allocation->pool,
                   (unsigned long long)(allocation->pool ? allocation->pool->reserved_bytes : 0), fg_thread(),
                   call->correlation, (unsigned long long)fg_now_ns());
}

/* Takes the bytes from the device's memory, or says that there are not enough. */
static bool reserve(int device, uint64_t bytes)
{
    pthread_mutex_lock(&fg_machine_lock);
    const bool fits = used_bytes[device] + bytes <= (uint64_t)fg_program()->memory_bytes;
    if (fits)
        used_bytes[device] += bytes;
    pthread_mutex_unlock(&fg_machine_lock);
    return fits;
}

static void unreserve(int device, uint64_t bytes)
{
    pthread_mutex_lock(&fg_machine_lock);
    used_bytes[device] -= bytes;
    pthread_mutex_unlock(&fg_machine_lock);
}

/* A pool grows by 2 MiB steps out of the device's memory and keeps what it has. */
static bool reserve_in_pool(struct fg_pool *pool, uint64_t bytes)
{
    enum { STEP_BYTES = 2 << 20 };
    pthread_mutex_lock(&fg_machine_lock);
    const uint64_t wanted = pool->used_bytes + bytes;
    const uint64_t grow =
        wanted > pool->reserved_bytes ? (wanted - pool->reserved_bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES : 0;
    const bool fits = used_bytes[pool->device] + grow <= (uint64_t)fg_program()->memory_bytes;
    if (fits) {
        used_bytes[pool->device] += grow;
        pool->reserved_bytes += grow;
        pool->used_bytes = wanted;
    }
    pthread_mutex_unlock(&fg_machine_lock);
    return fits;
}

static uint64_t mapped_bytes(uint64_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

static double cost_ns(enum fg_memory_kind kind, const struct fg_pool *pool)
{
    const struct fg_program *program = fg_program();
    return pool ? 0 : kind == FG_PINNED ? program->pin_ns : program->malloc_ns;
}

int fg_allocate(struct fg_call *call, void **address, uint64_t bytes, enum fg_memory_kind kind, struct fg_pool *pool,
                struct fg_stream *stream)
{
    struct fg_allocation allocation = {.bytes = bytes, .kind = (uint8_t)kind, .device = fg_device(), .pool = pool};
    *address = NULL;
    if (!bytes)
        return FG_OK;
    fg_busy(cost_ns(kind, pool));
    const bool fits = pool ? reserve_in_pool(pool, bytes) : kind == FG_PINNED || reserve(allocation.device, bytes);
    if (!fits)
        return FG_OUT_OF_MEMORY;
    allocation.address = (void *)syscall(SYS_mmap, NULL, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (allocation.address == MAP_FAILED)
        return FG_OUT_OF_MEMORY;
    *address = allocation.address;
    insert(&allocation);
    fg_record_memory(call, false, &allocation, stream);
    witness("alloc", call, &allocation);
    return FG_OK;
}

static bool take(void *address, struct fg_allocation *taken)
{
    const struct fg_allocation key = {.address = address, .bytes = 1};
    pthread_mutex_lock(&fg_machine_lock);
    struct fg_allocation **at = tfind(&key, &tree, compare), *found = at ? *at : NULL;
    if (found && found->address == address) {
        *taken = *found;
        tdelete(&key, &tree, compare);
        free(found);
    } else {
        found = NULL;
    }
    pthread_mutex_unlock(&fg_machine_lock);
    return found != NULL;
}

int fg_release(struct fg_call *call, void *address, struct fg_stream *stream)
{
    struct fg_allocation allocation;
    if (!address)
        return FG_OK;
    if (!take(address, &allocation) || allocation.is_registered)
        return FG_INVALID_VALUE;
    if (!stream) { /* cudaFree waits for the device; cudaFreeAsync does not */
        fg_wait_until(fg_device_end(allocation.device));
        fg_busy(fg_program()->free_ns);
    }
    fg_record_memory(call, true, &allocation, stream);
    witness("free", call, &allocation);
    if (allocation.pool) {
        pthread_mutex_lock(&fg_machine_lock);
        allocation.pool->used_bytes -= allocation.bytes;
        pthread_mutex_unlock(&fg_machine_lock);
    } else if (is_on_device(&allocation)) {
        unreserve(allocation.device, allocation.bytes);
    }
    syscall(SYS_munmap, address, mapped_bytes(allocation.bytes));
    return FG_OK;
}

int fg_register(struct fg_call *call, void *address, uint64_t bytes, bool on)
{
    struct fg_allocation allocation = {address, bytes, FG_PINNED, fg_device(), NULL, true};
    if (!on && !take(address, &allocation))
        return FG_INVALID_VALUE;
    if (on) {
        fg_busy(fg_program()->pin_ns);
        insert(&allocation);
    }
    witness(on ? "register" : "unregister", call, &allocation);
    return FG_OK;
}

void fg_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    pthread_mutex_lock(&fg_machine_lock);
    *total_bytes = (uint64_t)fg_program()->memory_bytes;
    *free_bytes = *total_bytes - used_bytes[device];
    pthread_mutex_unlock(&fg_machine_lock);
}

/* ---- pools ---- */
enum { CREATED = 1, DESTROYED, TRIMMED };

static struct fg_pool *new_pool(int device)
{
    struct fg_pool *pool = calloc(1, sizeof *pool);
    pool->magic = FG_POOL_MAGIC;
    pool->device = device;
    return pool;
}

struct fg_pool *fg_default_pool(int device)
{
    static struct fg_pool *pools[FG_DEVICES_MAX];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!pools[device])
        pools[device] = new_pool(device);
    pthread_mutex_unlock(&lock);
    return pools[device];
}

struct fg_pool *fg_pool_create(struct fg_call *call, int device)
{
    struct fg_pool *pool = new_pool(device);
    fg_record_pool(call, CREATED, pool, 0);
    return pool;
}

struct fg_pool *fg_pool_of(void *handle)
{
    struct fg_pool *pool = handle;
    return pool && pool->magic == FG_POOL_MAGIC ? pool : NULL;
}

int fg_pool_trim(struct fg_call *call, struct fg_pool *pool, uint64_t keep_bytes)
{
    pthread_mutex_lock(&fg_machine_lock);
    const uint64_t keep = pool->used_bytes > keep_bytes ? pool->used_bytes : keep_bytes;
    if (pool->reserved_bytes > keep) {
        used_bytes[pool->device] -= pool->reserved_bytes - keep;
        pool->reserved_bytes = keep;
    }
    pthread_mutex_unlock(&fg_machine_lock);
    fg_record_pool(call, TRIMMED, pool, keep_bytes);
    return FG_OK;
}

int fg_pool_destroy(struct fg_call *call, struct fg_pool *pool)
{
    fg_record_pool(call, DESTROYED, pool, 0);
    unreserve(pool->device, pool->reserved_bytes);
    pool->magic = 0; /* never freed: allocations may still name it */
    return FG_OK;
}
