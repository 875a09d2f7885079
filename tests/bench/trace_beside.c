/* SPDX-License-Identifier: MIT
 *
 * trace_beside.c - what the launcher adds to a generated run: run.json with the samples of all resources, and the CPU
 * profile of all threads, with stacks in this program's own code so that there are names to look up.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "cpu_file/write.h"
#include "cpu_profile/stack_tree.h"
#include "trace_parts.h"
#include "util/auto.h"
#include "util/mem.h"
#include "run_file/resources.h"

#define INTERVAL_NS 500000000ull
#define SAMPLE_NS 10000000ull

enum { STACKS = 3000, DEPTH = 24, MAX_WAITS = 200000, SHARE_ON_CPU = 4 /* a thread runs for one in as many */ };

/* ---- run.json ---- */

static void write_samples(FILE *file, pt_u64 duration_ns)
{
    const pt_u64 n = duration_ns / INTERVAL_NS;
    fprintf(file, "\"samples\": {\"t_ns\": [");
    for (pt_u64 i = 0; i < n; i++)
        fprintf(file, "%s%llu", i ? "," : "", (unsigned long long)((i + 1) * INTERVAL_NS));
    fputc(']', file);
    for (pt_u32 r = 0; r < PT_RESOURCE__COUNT; r++) {
        fprintf(file, ",\n\"%s\": [", pt_resources[r].id);
        for (pt_u64 i = 0; i < n; i++)
            fprintf(file, "%s%llu", i ? "," : "", (unsigned long long)(i * 2654435761u % 97));
        fputc(']', file);
    }
    fputc('}', file);
}

int write_run_record(const char *directory, pt_u64 duration_ns, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/run.json", directory);
    const double seconds = (double)duration_ns / 1e9;
    FILE *file = fopen(path, "we");
    if (!file)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    fprintf(file,
            "{\"schema_version\": \"1.0\", \"host\": \"host\", \"start_realtime_ns\": %llu, \"start_monotonic_ns\": "
            "%llu, \"interval_ns\": %llu, \"duration_ns\": %llu, \"machine\": {\"cpus\": 32, \"memory_bytes\": "
            "274877906944}, \"untraced\": [], \"notes\": [], \"stages\": [{\"stage\": \"train\", \"status\": \"ok\", "
            "\"command\": [\"python3\", \"train.py\"], \"start_ns\": 0, \"pid\": %d, \"exit\": \"exit 0\", "
            "\"exit_code\": 0, \"duration_ns\": %llu, \"cpu_s\": %.3f, \"cpu_percent_avg\": 1600, \"rss_max_bytes\": "
            "8589934592, \"resources\": {",
            (unsigned long long)BEGIN_REALTIME_NS, (unsigned long long)BEGIN_NS, (unsigned long long)INTERVAL_NS,
            (unsigned long long)duration_ns, MAIN_PID, (unsigned long long)duration_ns,
            seconds * PROCESSES * THREADS / SHARE_ON_CPU);
    for (pt_u32 r = 0; r < PT_RESOURCE__COUNT; r++)
        fprintf(file, "%s\"%s\": {\"max\": 96, \"mean\": 48, \"last\": 50}", r ? ", " : "", pt_resources[r].id);
    fprintf(file, "}, ");
    write_samples(file, duration_ns);
    fprintf(file, "}]}\n");
    return fclose(file) ? pt_fail(err, "cannot write %s: %s", path, strerror(errno)) : 0;
}

/* ---- the CPU profile ---- */

struct code { /* this program's, as addresses in its file */
    pt_u64 start, bytes;
};

static int find_code(struct dl_phdr_info *info, size_t size, void *code)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            *(struct code *)code = (struct code){info->dlpi_phdr[i].p_vaddr, info->dlpi_phdr[i].p_memsz};
    return 1; /* the program is the first */
}

/* The number of the innermost frame of each stack: frames near the root are shared by many. */
static void make_stacks(struct pt_stack_tree *tree, pt_u32 ret_nodes[STACKS])
{
    struct code code = {0, 1};
    dl_iterate_phdr(find_code, &code);
    for (pt_u32 i = 0; i < STACKS; i++) {
        struct pt_unwound stack = {.n = DEPTH};
        for (pt_u32 depth = 0; depth < DEPTH; depth++) { /* from the root */
            const pt_u64 which = depth < 4 ? depth : depth * 131 + i % (depth * depth * 5);
            stack.frames[DEPTH - 1 - depth] =
                (struct pt_code_place){PT_CPU_MODULE__FIRST, code.start + which * 0x9e3779b1ull % code.bytes};
        }
        ret_nodes[i] = pt_stack_tree_add(tree, &stack, i % 5 == 0);
    }
}

static void write_module(struct pt_profile_file *file)
{
    char bytes[sizeof(struct pt_cpu_module) + 4096];
    const struct pt_cpu_module module = {.number = PT_CPU_MODULE__FIRST};
    memcpy(bytes, &module, sizeof module);
    const ssize_t n = readlink("/proc/self/exe", bytes + sizeof module, 4096);
    pt_profile_file_chunk(file, PT_CPU_CHUNK_MODULE, bytes, sizeof module + (n > 0 ? (size_t)n : 0));
}

struct chunks {
    struct pt_chunk_buffer threads, times, samples, waits, sums, intervals;
};

static void add_thread(struct chunks *c, pt_u32 number, const pt_u32 nodes[STACKS], pt_u64 duration_ns)
{
    const pt_u32 process = (number - 1) / THREADS, pid = pid_of(process);
    const struct pt_cpu_thread thread = {number, pid,      pid + (number - 1) % THREADS, process ? MAIN_PID : 1,
                                         0,      "python3"};
    struct pt_cpu_times times = {.thread = number, .flags = PT_CPU_THREAD_ENDED, .end_ns = duration_ns};
    struct pt_cpu_wait_sums sums = {.thread = number};
    const pt_u64 round_ns = SAMPLE_NS * SHARE_ON_CPU;
    for (pt_u64 at_ns = number * 1000; at_ns + round_ns < duration_ns; at_ns += round_ns) {
        const pt_u32 node = nodes[(at_ns / 1000 + number) * 2654435761u % STACKS];
        const struct pt_cpu_sample sample = {at_ns + SAMPLE_NS, number, node};
        const struct pt_cpu_interval preempted = {at_ns + SAMPLE_NS, SAMPLE_NS, number, PT_CPU_INTERVAL_PREEMPTED};
        const struct pt_cpu_wait wait = {at_ns + 2 * SAMPLE_NS, round_ns - 2 * SAMPLE_NS, number, node, 0, 0};
        pt_chunk_add(&c->samples, &sample, sizeof sample);
        pt_chunk_add(&c->intervals, &preempted, sizeof preempted);
        if (c->waits.n < MAX_WAITS * sizeof wait)
            pt_chunk_add(&c->waits, &wait, sizeof wait);
        sums.blocked_ns[pt_cpu_wait_class(wait.duration_ns)] += wait.duration_ns;
        sums.preempted_ns += SAMPLE_NS;
        times.on_cpu_ns += SAMPLE_NS;
        times.preempted_ns += SAMPLE_NS;
        times.waiting_ns += wait.duration_ns;
        times.samples++, times.blocks++, times.preemptions++;
    }
    pt_chunk_add(&c->threads, &thread, sizeof thread);
    pt_chunk_add(&c->times, &times, sizeof times);
    pt_chunk_add(&c->sums, &sums, sizeof sums);
}

static void write_chunks(struct chunks *c, struct pt_profile_file *file)
{
    const struct {
        struct pt_chunk_buffer *buffer;
        enum pt_cpu_chunk_type type;
    } all[] = {
        {&c->threads, PT_CPU_CHUNK_THREADS}, {&c->times, PT_CPU_CHUNK_TIMES},
        {&c->samples, PT_CPU_CHUNK_SAMPLES}, {&c->waits, PT_CPU_CHUNK_WAITS},
        {&c->sums, PT_CPU_CHUNK_WAIT_SUMS},  {&c->intervals, PT_CPU_CHUNK_INTERVALS},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pt_chunk_write(all[i].buffer, file, all[i].type);
        free(all[i].buffer->items);
    }
}

int write_cpu_profile(const char *directory, pt_u64 duration_ns, struct pt_error *err)
{
    const struct pt_cpu_header header = {
        .magic = PT_CPU_MAGIC,
        .version = PT_CPU_VERSION,
        .header_bytes = sizeof header,
        .begin_monotonic_ns = BEGIN_NS,
        .begin_realtime_ns = BEGIN_REALTIME_NS,
        .period_ns = SAMPLE_NS,
        .flags = PT_CPU_SAMPLED | PT_CPU_WAITS | PT_CPU_INTERVALS | PT_CPU_FAULTS,
        .root_pid = MAIN_PID,
        .cpus = 32,
    };
    struct pt_profile_file file;
    struct pt_stack_tree tree = {0};
    struct chunks chunks = {0};
    pt_u32 nodes[STACKS];
    const int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int result = pt_profile_file_open(&file, directory_fd, 0, &header, err);
    if (directory_fd >= 0)
        close(directory_fd);
    if (result < 0)
        return -1;
    write_module(&file);
    make_stacks(&tree, nodes);
    pt_chunk_write(&tree.fresh, &file, PT_CPU_CHUNK_NODES);
    for (pt_u32 number = 1; number <= PROCESSES * THREADS; number++)
        add_thread(&chunks, number, nodes, duration_ns);
    const struct pt_cpu_totals totals = {.duration_ns = duration_ns,
                                         .samples = chunks.samples.n / sizeof(struct pt_cpu_sample)};
    write_chunks(&chunks, &file);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_TOTALS, &totals, sizeof totals);
    pt_stack_tree_fini(&tree);
    const int problem = file.problem;
    pt_profile_file_close(&file);
    return problem ? pt_fail(err, "cannot write the CPU profile: %s", strerror(problem)) : 0;
}
