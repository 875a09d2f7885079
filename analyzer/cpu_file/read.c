/* SPDX-License-Identifier: MIT
 *
 * cpu_file/read.c - Owns: reading a CPU profile. Threads: any. Never: believes a number of the file before it was
 * compared with what is there, waits for a file, follows a link.
 */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proftrace/format.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/vec.h"
#include "jit_maps.h"
#include "python_name.h"
#include "switches.h"

#define CHUNK_MAX_BYTES (64u << 20)
#define MODULES_MAX (PT_CPU_MODULE_PYTHON - 1u)
#define TIME_MAX_NS 1000000000000000000ull /* 31 years: a sum over all threads stays below 2^64 */
#define TEXT_MAX_BYTES 4096u

struct reader {
    FILE *file;
    pt_u64 left_bytes;
    pt_u8 *payload;
    size_t payload_room;
    struct pt_cpu_data *data;
    struct {
        PT_VEC(struct pt_cpu_file);
    } modules;
    struct {
        PT_VEC(struct pt_cpu_thread);
    } threads;
    struct {
        PT_VEC(struct pt_cpu_times);
    } times;
    struct {
        PT_VEC(struct pt_cpu_node);
    } nodes;
    struct {
        PT_VEC(pt_u16);
    } depths; /* of nodes */
    struct pt_cpu_python_names python_names;
    struct {
        PT_VEC(struct pt_cpu_sample);
    } samples;
    struct {
        PT_VEC(struct pt_cpu_wait);
    } waits;
    struct {
        PT_VEC(struct pt_cpu_wait_sums);
    } wait_sums; /* by thread, like times */
    struct {
        PT_VEC(struct pt_cpu_interval);
    } intervals;
    struct {
        PT_VEC(struct pt_cpu_fault_sums);
    } fault_sums; /* by thread, like times */
    struct {
        PT_VEC(struct pt_cpu_kernel);
    } kernel; /* by thread, like times */
    struct pt_cpu_on_cpu_list on_cpu;
    struct pt_map counts; /* thread and node -> samples */
    bool only_times;      /* of threads; all else is passed over */
};

/* ---- chunks ---- */

static pt_u64 time_of(pt_u64 ns)
{
    return ns < TIME_MAX_NS ? ns : TIME_MAX_NS;
}

static const char *text_of(struct reader *r, const pt_u8 *bytes, size_t n)
{
    return pt_arena_text(&r->data->texts, bytes, strnlen((const char *)bytes, n < TEXT_MAX_BYTES ? n : TEXT_MAX_BYTES));
}

static bool take_module(struct reader *r, size_t n)
{
    struct pt_cpu_module module;
    if (n < sizeof module)
        return false;
    memcpy(&module, r->payload, sizeof module);
    if (module.number != r->modules.n || module.build_id_bytes > sizeof module.build_id || r->modules.n >= MODULES_MAX)
        return false;
    struct pt_cpu_file file = {.path = text_of(r, r->payload + sizeof module, n - sizeof module),
                               .build_id_bytes = module.build_id_bytes};
    memcpy(file.build_id, module.build_id, sizeof file.build_id);
    pt_vec_push(&r->modules, file);
    return true;
}

/* Threads come in the order in which they end. */
static bool make_room(struct reader *r, pt_u32 number)
{
    if (!number || number > PT_CPU_THREADS_MAX)
        return false;
    while (r->threads.n <= number) {
        const pt_u32 next = (pt_u32)r->threads.n;
        pt_vec_push(&r->threads, (struct pt_cpu_thread){.number = next});
        pt_vec_push(&r->times, (struct pt_cpu_times){.thread = next});
        pt_vec_push(&r->wait_sums, (struct pt_cpu_wait_sums){.thread = next});
        pt_vec_push(&r->fault_sums, (struct pt_cpu_fault_sums){.thread = next});
        pt_vec_push(&r->kernel, (struct pt_cpu_kernel){.thread = next});
    }
    return true;
}

static bool take_thread(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_thread thread;
    memcpy(&thread, item, sizeof thread);
    thread.comm[sizeof thread.comm - 1] = 0;
    thread.start_ns = time_of(thread.start_ns);
    if (!make_room(r, thread.number))
        return false;
    r->threads.items[thread.number] = thread;
    return true;
}

static bool take_times(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_times times;
    memcpy(&times, item, sizeof times);
    pt_u64 *const all[] = {&times.on_cpu_ns,    &times.preempted_ns,  &times.waiting_ns, &times.unknown_ns,
                           &times.run_delay_ns, &times.delay_seen_ns, &times.end_ns};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = time_of(*all[i]);
    if (!make_room(r, times.thread))
        return false;
    r->times.items[times.thread] = times;
    return true;
}

static bool take_node(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_node node;
    memcpy(&node, item, sizeof node);
    const size_t n_names = r->python_names.n; /* 1: there are none, and no module of Python */
    const bool is_python = node.module == PT_CPU_MODULE_PYTHON && n_names > 1 && node.address < n_names;
    if (node.parent >= r->nodes.n || (node.module >= r->modules.n && !is_python) || r->nodes.n > PT_CPU_NODES_MAX)
        return false;
    const pt_u16 depth = (pt_u16)(r->depths.items[node.parent] + 1);
    if (depth > PT_CPU_DEPTH_MAX + 2) /* and the marks of the kernel and of a cut */
        return false;
    pt_vec_push(&r->nodes, node);
    pt_vec_push(&r->depths, depth);
    return true;
}

static void count(struct reader *r, pt_u32 thread, pt_u32 node, pt_u64 samples)
{
    pt_u64 *sum = pt_map_at(&r->counts, (pt_u64)thread << 32 | node);
    *sum = time_of(*sum + time_of(samples));
}

static bool take_sample(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_sample sample;
    memcpy(&sample, item, sizeof sample);
    sample.t_ns = time_of(sample.t_ns);
    if (sample.thread >= r->threads.n || sample.node >= r->nodes.n || r->samples.n >= PT_CPU_SAMPLES_MAX)
        return false;
    pt_vec_push(&r->samples, sample);
    count(r, sample.thread, sample.node, 1);
    return true;
}

static bool take_count(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_count one;
    memcpy(&one, item, sizeof one);
    if (one.thread >= r->threads.n || one.node >= r->nodes.n)
        return false;
    count(r, one.thread, one.node, one.samples);
    return true;
}

static bool take_wait(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_wait wait;
    memcpy(&wait, item, sizeof wait);
    wait.t_ns = time_of(wait.t_ns);
    wait.duration_ns = time_of(wait.duration_ns);
    if (wait.thread >= r->threads.n || wait.node >= r->nodes.n || r->waits.n >= PT_CPU_WAITS_MAX)
        return false;
    pt_vec_push(&r->waits, wait);
    return true;
}

static bool take_wait_sums(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_wait_sums sums;
    memcpy(&sums, item, sizeof sums);
    sums.preempted_ns = time_of(sums.preempted_ns);
    for (int i = 0; i < PT_CPU_WAIT_CLASSES; i++)
        sums.blocked_ns[i] = time_of(sums.blocked_ns[i]);
    if (!make_room(r, sums.thread))
        return false;
    r->wait_sums.items[sums.thread] = sums;
    return true;
}

static bool take_interval(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_interval interval;
    memcpy(&interval, item, sizeof interval);
    interval.t_ns = time_of(interval.t_ns);
    interval.duration_ns = time_of(interval.duration_ns);
    if (interval.thread >= r->threads.n || r->intervals.n >= PT_CPU_INTERVALS_MAX)
        return false;
    pt_vec_push(&r->intervals, interval);
    return true;
}

static bool take_fault_sums(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_fault_sums sums;
    memcpy(&sums, item, sizeof sums);
    sums.waits_ns = time_of(sums.waits_ns);
    if (!make_room(r, sums.thread))
        return false;
    r->fault_sums.items[sums.thread] = sums;
    return true;
}

static bool take_kernel(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_kernel kernel;
    memcpy(&kernel, item, sizeof kernel);
    kernel.kernel_on_ns = time_of(kernel.kernel_on_ns);
    kernel.seen_on_ns = time_of(kernel.seen_on_ns);
    if (!make_room(r, kernel.thread))
        return false;
    r->kernel.items[kernel.thread] = kernel;
    return true;
}

static bool take_on_cpu(struct reader *r, const pt_u8 *item)
{
    struct pt_cpu_on_cpu one;
    memcpy(&one, item, sizeof one);
    one.on_cpu_ns = time_of(one.on_cpu_ns);
    if (!make_room(r, one.thread) || r->on_cpu.n >= PT_CPU_THREADS_MAX)
        return false;
    pt_vec_push(&r->on_cpu, one);
    return true;
}

static bool take_totals(struct reader *r, const pt_u8 *item)
{
    memcpy(&r->data->totals, item, sizeof r->data->totals);
    r->data->totals.duration_ns = time_of(r->data->totals.duration_ns);
    r->data->totals.own_cpu_ns = time_of(r->data->totals.own_cpu_ns);
    return true;
}

/* Chunks of items of one size; those of types that we do not know are skipped. */
static const struct {
    size_t item_bytes;
    bool (*take)(struct reader *r, const pt_u8 *item);
} items_of[] = {
    [PT_CPU_CHUNK_THREADS] = {sizeof(struct pt_cpu_thread), take_thread},
    [PT_CPU_CHUNK_NODES] = {sizeof(struct pt_cpu_node), take_node},
    [PT_CPU_CHUNK_SAMPLES] = {sizeof(struct pt_cpu_sample), take_sample},
    [PT_CPU_CHUNK_COUNTS] = {sizeof(struct pt_cpu_count), take_count},
    [PT_CPU_CHUNK_TIMES] = {sizeof(struct pt_cpu_times), take_times},
    [PT_CPU_CHUNK_TOTALS] = {sizeof(struct pt_cpu_totals), take_totals},
    [PT_CPU_CHUNK_NOTE] = {0, NULL},
    [PT_CPU_CHUNK_WAITS] = {sizeof(struct pt_cpu_wait), take_wait},
    [PT_CPU_CHUNK_WAIT_SUMS] = {sizeof(struct pt_cpu_wait_sums), take_wait_sums},
    [PT_CPU_CHUNK_INTERVALS] = {sizeof(struct pt_cpu_interval), take_interval},
    [PT_CPU_CHUNK_FAULT_SUMS] = {sizeof(struct pt_cpu_fault_sums), take_fault_sums},
    [PT_CPU_CHUNK_ON_CPU] = {sizeof(struct pt_cpu_on_cpu), take_on_cpu},
    [PT_CPU_CHUNK_KERNEL] = {sizeof(struct pt_cpu_kernel), take_kernel},
};

static bool take_chunk(struct reader *r, const struct pt_cpu_chunk *chunk)
{
    if (chunk->type == PT_CPU_CHUNK_MODULE)
        return take_module(r, chunk->bytes);
    if (chunk->type == PT_CPU_CHUNK_NAMES)
        return pt_cpu_python_names_add(&r->python_names, &r->data->texts, r->payload, chunk->bytes);
    if (chunk->type == PT_CPU_CHUNK_NOTE)
        r->data->note = text_of(r, r->payload, chunk->bytes);
    if (chunk->type >= sizeof items_of / sizeof *items_of || !items_of[chunk->type].take)
        return true;
    const size_t bytes = items_of[chunk->type].item_bytes;
    if (chunk->bytes % bytes)
        return false;
    for (size_t at = 0; at < chunk->bytes; at += bytes)
        if (!items_of[chunk->type].take(r, r->payload + at))
            return false;
    return true;
}

static bool is_intact(const struct reader *r, const struct pt_cpu_chunk *chunk)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)r;
    (void)chunk; /* a fuzzer does not find checksums */
    return true;
#else
    return pt_crc32c(0, r->payload, chunk->bytes) == chunk->crc;
#endif
}

/* False at the end, or where nothing more can be believed. */
static bool read_chunk(struct reader *r)
{
    struct pt_cpu_chunk chunk;
    if (!r->left_bytes)
        return false;
    r->data->is_cut = true;
    if (r->left_bytes < sizeof chunk || fread(&chunk, sizeof chunk, 1, r->file) != 1)
        return false;
    r->left_bytes -= sizeof chunk;
    if (chunk.bytes > r->left_bytes || chunk.bytes > CHUNK_MAX_BYTES)
        return false;
    if (r->only_times && chunk.type != PT_CPU_CHUNK_THREADS && chunk.type != PT_CPU_CHUNK_TIMES) {
        r->left_bytes -= chunk.bytes;
        r->data->is_cut = false;
        return fseek(r->file, (long)chunk.bytes, SEEK_CUR) == 0;
    }
    /* Never null, not even for an empty chunk: takers add to the address. */
    if (chunk.bytes >= r->payload_room) {
        r->payload = pt_realloc(r->payload, chunk.bytes + 1);
        r->payload_room = chunk.bytes + 1;
    }
    if (chunk.bytes && fread(r->payload, chunk.bytes, 1, r->file) != 1)
        return false;
    r->left_bytes -= chunk.bytes;
    if (!is_intact(r, &chunk) || !take_chunk(r, &chunk))
        return false;
    r->data->is_cut = false;
    return true;
}

/* ---- the file ---- */

static void start(struct reader *r)
{
    for (int i = 0; i < PT_CPU_MODULE__FIRST; i++)
        pt_vec_push(&r->modules, (struct pt_cpu_file){.path = ""});
    pt_vec_push(&r->python_names, ((struct pt_cpu_python_name){.function = "", .file = ""}));
    pt_vec_push(&r->nodes, (struct pt_cpu_node){0});
    pt_vec_push(&r->depths, 0);
    pt_vec_push(&r->threads, (struct pt_cpu_thread){0});
    pt_vec_push(&r->times, (struct pt_cpu_times){0});
    pt_vec_push(&r->wait_sums, (struct pt_cpu_wait_sums){0});
    pt_vec_push(&r->fault_sums, (struct pt_cpu_fault_sums){0});
    pt_vec_push(&r->kernel, (struct pt_cpu_kernel){0});
}

/* Modules of files have the numbers up to their count: that of Python is behind them. */
static void number_python(struct reader *r)
{
    if (r->python_names.n == 1)
        return;
    const pt_u32 module = r->data->python_module = (pt_u32)r->modules.n;
    pt_vec_push(&r->modules, (struct pt_cpu_file){.path = ""});
    for (size_t i = 0; i < r->nodes.n; i++)
        if (r->nodes.items[i].module == PT_CPU_MODULE_PYTHON)
            r->nodes.items[i].module = module;
}

static void hand_over(struct reader *r)
{
    struct pt_cpu_data *data = r->data;
    number_python(r);
    data->python_names = r->python_names.items;
    data->modules = r->modules.items;
    data->n_modules = r->modules.n;
    data->threads = r->threads.items;
    data->times = r->times.items;
    data->n_threads = r->threads.n;
    data->nodes = r->nodes.items;
    data->n_nodes = r->nodes.n;
    data->samples = r->samples.items;
    data->n_samples = r->samples.n;
    data->waits = r->waits.items;
    data->n_waits = r->waits.n;
    data->wait_sums = r->wait_sums.items;
    data->intervals = r->intervals.items;
    data->n_intervals = r->intervals.n;
    data->fault_sums = r->fault_sums.items;
    data->kernel = r->kernel.items;
    data->n_counts = r->counts.n;
    data->counts = pt_calloc(r->counts.n + 1, sizeof *data->counts);
    for (size_t i = 0; i < r->counts.n; i++) {
        const struct pt_map_entry *entry = &r->counts.entries[i];
        data->counts[i] = (struct pt_cpu_count){(pt_u32)(entry->key >> 32), (pt_u32)entry->key, entry->value};
    }
    pt_map_fini(&r->counts);
    free(r->depths.items);
    free(r->payload);
}

/* NULL and errno when it cannot be read; a FIFO or a device is EINVAL. Runs of links, as DVC and git-annex make
 * them, have this one, too. */
static FILE *open_profile(const char *path, pt_u64 *ret_bytes)
{
    struct stat status;
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0)
        return NULL;
    errno = EINVAL;
    FILE *file = S_ISREG(status.st_mode) ? fdopen(fd, "r") : NULL;
    if (file)
        fd = -1;
    *ret_bytes = (pt_u64)status.st_size;
    return file;
}

/* False for a foreign file, or one of another version; then the place in the file is anywhere. */
static bool read_header(FILE *file, struct pt_cpu_header *ret_header, pt_u64 *left_bytes)
{
    struct pt_cpu_header *header = ret_header;
    if (*left_bytes < sizeof *header || fread(header, sizeof *header, 1, file) != 1 ||
        memcmp(header->magic, PT_CPU_MAGIC, sizeof header->magic) != 0 || header->version != PT_CPU_VERSION ||
        header->header_bytes < sizeof *header || header->header_bytes > 4096 || *left_bytes < header->header_bytes)
        return false;
    *left_bytes -= header->header_bytes;
    return fseek(file, header->header_bytes, SEEK_SET) == 0;
}

/* Of threads that have ended the kernel's count is the last word. */
static void bind_ended(struct reader *r)
{
    pt_cpu_switches_add(r->data, r->on_cpu.items, r->on_cpu.n);
    for (size_t i = 0; i < r->on_cpu.n; i++) {
        const struct pt_cpu_on_cpu *ended = &r->on_cpu.items[i];
        r->data->kernel[ended->thread] =
            (struct pt_cpu_kernel){ended->thread, 0, ended->on_cpu_ns, r->data->times[ended->thread].on_cpu_ns};
    }
}

static int read_profile(const char *directory, pt_u32 stage, bool only_times, struct pt_cpu_data **ret_data,
                        struct pt_error *err)
{
    *ret_data = NULL;
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_CPU_FILE_FORMAT, directory, stage);
    struct reader r = {.only_times = only_times};
    PT_AUTO(pt_fclosep) FILE *file = r.file = open_profile(path, &r.left_bytes);
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (!file)
        return pt_fail_code(err, 3, "%s: %s", path, strerror(errno));
    r.data = pt_calloc(1, sizeof *r.data);
    if (!read_header(file, &r.data->header, &r.left_bytes)) {
        free(r.data);
        return pt_fail_code(err, 3, "%s: not a CPU profile of this version", path);
    }
    start(&r);
    while (read_chunk(&r))
        ;
    hand_over(&r);
    if (!only_times)
        bind_ended(&r);
    free(r.on_cpu.items);
    if (!only_times)
        pt_jit_maps_read(r.data, directory, stage);
    *ret_data = r.data;
    return 0;
}

int pt_cpu_data_read(const char *directory, pt_u32 stage, struct pt_cpu_data **ret_data, struct pt_error *err)
{
    return read_profile(directory, stage, false, ret_data, err);
}

struct pt_cpu_data *pt_cpu_data_read_times(const char *directory, pt_u32 stage)
{
    struct pt_cpu_data *data;
    struct pt_error ignored = {0};
    return read_profile(directory, stage, true, &data, &ignored) < 0 ? NULL : data;
}
