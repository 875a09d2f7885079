/* SPDX-License-Identifier: MIT
 *
 * b_trace.c - a run of any size without running it: a training with workers, each of several threads, that reads files,
 * computes on a GPU, locks, waits, talks to a store over the network and allocates; with all that the launcher adds, so
 * that every analysis has work to do.   usage: b_trace DIRECTORY EVENTS
 *
 * All threads are alive at the same time and what they do is interleaved event by event: the worst case for whoever
 * puts them in order.
 */
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "proftrace/events.h"
#include "bench.h"
#include "trace_parts.h"
#include "util/auto.h"
#include "util/mem.h"

static struct pt_record record_of(pt_u64 ticks, pt_u32 kind, pt_i32 tag, pt_u64 aux, const void *payload)
{
    struct pt_record record = {
        .stamp = ticks << PT_GENERATION_BITS,
        .aux = (pt_u32)aux,
        .tag_kind = (pt_u32)tag << 8 | pt_event_descs[kind].id,
    };
    memcpy(record.payload, payload, sizeof record.payload);
    return record;
}

static void store(struct thread *t, pt_u32 slot, pt_u32 kind, const struct pt_record *record)
{
    const struct pt_event_desc *desc = &pt_event_descs[kind];
    const pt_u64 duration_ns = desc->role == PT_ROLE_SPAN ? pt_duration_ticks(record->aux) : 0;
    struct pt_thread_area *area = slot == GPU_SLOT ? t->gpu_area : t->area;
    pt_totals_add(&area->totals[0][kind], desc, record->payload, duration_ns);
    pt_writer_record(t->writer, slot, 1, slot == GPU_SLOT ? GPU_TID : t->tid, record);
    t->events++;
}

void put_on_gpu(struct thread *t, pt_u64 ticks, pt_u32 kind, pt_i32 tag, pt_u64 aux, const void *payload)
{
    const struct pt_record record = record_of(ticks, kind, tag, aux, payload);
    store(t, GPU_SLOT, kind, &record);
}

void put(struct thread *t, pt_u32 kind, pt_i32 tag, pt_u64 duration_ns, const void *payload)
{
    const struct pt_record record = record_of(t->ticks, kind, tag, pt_duration_pack(duration_ns), payload);
    store(t, t->slot, kind, &record);
    t->ticks += duration_ns + STEP_NS / 2 + roll(t, STEP_NS);
}

/* ---- what a thread does ---- */

static void read_file(struct thread *t)
{
    const pt_u32 path = t->names->files[roll(t, FILES)];
    const pt_i32 fd = 10 + (pt_i32)t->slot;
    PUT(t, meta_stat, -1, 900 + roll(t, 400), .path = path);
    PUT(t, io_open, fd, 3000 + roll(t, 2000), .result = fd, .path = path);
    for (int i = 0; i < 6; i++)
        PUT(t, io_read, fd, 1000 + roll(t, 9000), .result = 65536, .path = path, .requested_bytes = 65536);
    PUT(t, io_close, fd, 700, .path = path);
}

/* One clock unit for all of them, as the library writes it: the times between are interpolated. */
static void allocate(struct thread *t)
{
    enum { PAIRS = 7 };
    for (int i = 0; i < PAIRS; i++) {
        const pt_u64 head = (0x7f0000000000 + (pt_u64)t->tid * 0x1000000 + roll(t, 4096) * 64ull) << 16;
        const pt_u64 size = 16 + roll(t, 2000);
        const struct pt_unit16 taken = {head | (pt_u64)PT_EV_heap_malloc << PT_GENERATION_BITS, size};
        const struct pt_unit16 freed = {head | (pt_u64)PT_EV_heap_free << PT_GENERATION_BITS, 0};
        if (i)
            pt_writer_plain_unit(t->writer, t->slot, 1, t->tid, taken);
        else
            pt_writer_unit(t->writer, t->slot, 1, t->tid, t->ticks, taken);
        pt_writer_plain_unit(t->writer, t->slot, 1, t->tid, freed);
        struct pt_heap_class *class = &t->area->heap_spilled[pt_heap_class_of(size)];
        class->count++;
        class->bytes += size;
    }
    t->area->heap_frees += PAIRS;
    t->ticks += PAIRS * 300;
    t->events += 2 * PAIRS;
}

static void wait_for_others(struct thread *t, pt_u32 first_tid)
{
    const pt_u64 lock = FIRST_LOCK + roll(t, LOCKS) * 64ull;
    PUT(t, lock_mutex, 0, 500 + roll(t, 20000), .owner_tid = first_tid + roll(t, THREADS), .addr = lock);
    PUT(t, lock_cond, 0, 5000 + roll(t, 100000), .addr = lock + 40, .mutex = lock);
    PUT(t, wait_poll, 5, 2000 + roll(t, 50000), .result = 1, .path = t->names->pipe, .timeout_ms = -1, .fds = 2);
    PUT(t, io_write, 5, 1500, .result = 512, .path = t->names->pipe, .requested_bytes = 512);
    if (!roll(t, 50))
        PUT(t, wait_sleep, 0, 1000000, .requested_ns = 1000000);
}

static void talk(struct thread *t)
{
    const pt_u32 peer = t->names->peers[roll(t, PEERS)];
    PUT(t, net_send, 7, 4000 + roll(t, 3000), .result = 900, .path = peer, .messages = 1);
    PUT(t, net_receive, 7, 50000 + roll(t, 400000), .result = 16000, .path = peer, .messages = 1);
}

static void work(struct thread *t, pt_u32 first_tid)
{
    if (t->gpu && !roll(t, 3)) {
        gpu_step(t);
        return;
    }
    switch (roll(t, 8)) {
    case 0:
    case 1:
        read_file(t);
        break;
    case 2:
    case 3:
        wait_for_others(t, first_tid);
        break;
    case 4:
        talk(t);
        break;
    case 5:
        PUT(t, io_write, 4, 2000 + roll(t, 4000), .result = 200, .path = t->names->files[0], .requested_bytes = 200);
        break;
    default:
        allocate(t);
        break;
    }
}

/* ---- a process ---- */

__attribute__((format(printf, 2, 3))) static pt_u32 name(struct pt_trace_writer *writer, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pt_writer_string(writer, text, (pt_u32)n);
}

static void write_names(struct pt_trace_writer *w, pt_u32 number, struct names *names)
{
    for (pt_u32 i = 0; i < FILES; i++)
        names->files[i] = name(w, "/data/images/image-%05u.jpg", i);
    for (pt_u32 i = 0; i < PEERS; i++)
        names->peers[i] = name(w, "tcp 10.0.0.%u:9000", i + 1);
    for (pt_u32 i = 0; i < KERNELS; i++)
        names->kernels[i] = name(w, "_Z%ukernel%uPf", i < 10 ? 7 : 8, i);
    for (pt_u32 i = 0; i < QUEUES; i++)
        names->queues[i] = name(w, "%u/1/%u", number / 2, 7 + i);
    names->pipe = name(w, "pipe:[%u]", 70000 + number);
    names->config = name(w, "64,1,1 256,1,1 32 0+0");
    names->launch = name(w, "cudaLaunchKernel");
    names->copy = name(w, "cudaMemcpyAsync");
    names->synchronise = name(w, "cudaStreamSynchronize");
    names->step = name(w, "step");
    names->device = name(w, "NVIDIA H200");
    names->tracing = name(w, "CUPTI 13.0.1");
    names->memory = name(w, "%u/3", number / 2);
}

static struct pt_trace_writer *new_process(pt_u32 number, struct names *names)
{
    static const char *const texts[] = {"/usr/bin/python3", "/work",   "train", "host", "train", "2",
                                        "python3",          "train.py"};
    /* Where nothing can be found: no symbols, but the first of the locks is the interpreter's. */
    static const char python[] = "/nowhere/libpython3.11.so";
    const struct pt_def_module module = {.start = FIRST_LOCK, .end = FIRST_LOCK + 64, .path_bytes = sizeof python - 1};
    struct pt_trace_writer *w = pt_trace_writer_new();
    struct pt_file_header *h = pt_writer_header(w);
    h->pid = pid_of(number);
    h->ppid = number ? MAIN_PID : 1;
    h->trace_id = number + 1;
    h->parent_trace_id = number ? 1 : 0;
    h->clock_base = BEGIN_NS;
    h->clock_first = (struct pt_clock_pair){h->clock_base, h->clock_base};
    h->realtime_ns = BEGIN_REALTIME_NS;
    h->heap_mode = PT_HEAP_FULL;
    h->state = PT_PROCESS_EXITED;
    strcpy(h->boot_id, "boot");
    pt_writer_text(w, texts, sizeof texts / sizeof texts[0]);
    pt_writer_module(w, &module, h->clock_base, NULL, python);
    write_names(w, number, names);
    return w;
}

static int write_process(const char *directory, pt_u32 number, pt_u64 events, pt_u64 *last_ns, struct pt_error *err)
{
    struct names names;
    struct thread threads[THREADS];
    struct gpu gpu = {0};
    struct pt_trace_writer *w = new_process(number, &names);
    const pt_u32 first_tid = pid_of(number);
    const bool has_gpu = number % 2 == 0;
    pt_u64 end_ns = 0;
    for (pt_u32 i = 0; i < THREADS; i++) {
        struct pt_thread_area *area = pt_writer_area(w, i);
        area->tid = first_tid + i;
        area->start_ticks = 1000 + number;
        threads[i] = (struct thread){.writer = w,
                                     .area = area,
                                     .names = &names,
                                     .slot = i,
                                     .tid = first_tid + i,
                                     .random = number * THREADS + i,
                                     .ticks = area->start_ticks};
    }
    if (has_gpu) {
        threads[0].gpu = &gpu;
        threads[0].gpu_area = pt_writer_area(w, GPU_SLOT);
        gpu_begin(&threads[0], number / 2);
    }
    for (pt_u32 i = 0; i < THREADS; i++) {
        while (threads[i].events < events / THREADS)
            work(&threads[i], first_tid);
        end_ns = threads[i].ticks > end_ns ? threads[i].ticks : end_ns;
    }
    pt_writer_header(w)->end_counter = BEGIN_NS + end_ns;
    *last_ns = end_ns > *last_ns ? end_ns : *last_ns;
    if (has_gpu)
        gpu_end(&threads[0]);
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/train-%u.ptr", directory, first_tid);
    const int result = pt_writer_save(w, path, err);
    pt_trace_writer_free(w);
    return result;
}

static int write_run(const char *directory, pt_u64 events, struct pt_error *err)
{
    pt_u64 last_ns = 0; /* since the run began */
    mkdir(directory, 0700);
    for (pt_u32 i = 0; i < PROCESSES; i++)
        if (write_process(directory, i, events / PROCESSES, &last_ns, err) < 0)
            return -1;
    if (write_run_record(directory, last_ns, err) < 0)
        return -1;
    return write_cpu_profile(directory, last_ns, err);
}

int main(int argc, char **argv)
{
    const pt_u64 events = (pt_u64)bench_argument(argc, argv, 2, 10000000);
    const struct bench from = bench_now();
    struct pt_error err = {0};
    if (argc < 2)
        return 2;
    if (write_run(argv[1], events, &err) < 0) {
        fprintf(stderr, "b_trace: %s\n", err.text);
        return 3;
    }
    bench_print(from, events);
    return 0;
}
