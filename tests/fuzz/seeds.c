/* SPDX-License-Identifier: MIT
 *
 * seeds.c - a first corpus: `fuzz_seeds TARGET DIRECTORY` writes a trace, or its text, that has one of everything.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cpu_file/write.h"
#include "helper_trace.h"
#include "model/text/write.h"
#include "util/auto.h"

static int save_cpu_profile(const char *directory, struct pt_error *err)
{
    const struct pt_cpu_header header = {
        .magic = PT_CPU_MAGIC, .version = PT_CPU_VERSION, .header_bytes = sizeof header};
    const struct pt_cpu_thread thread = {.number = 1, .pid = 7, .tid = 7, .comm = "seed"};
    const char names[] = "41:38:Set.load:/app/data.py\0no such name";
    const struct pt_cpu_node nodes[] = {{0, 0, 1}, {1, PT_CPU_MODULE_KERNEL, 0}, {1, PT_CPU_MODULE_PYTHON, 2}};
    const struct pt_cpu_sample samples[] = {{1, 1, 1}, {2, 1, 2}};
    const struct pt_cpu_count count = {1, 2, 3};
    const struct pt_cpu_times times = {.thread = 1, .on_cpu_ns = 10};
    const struct pt_cpu_totals totals = {.samples = 5};
    const struct pt_cpu_module module = {.number = PT_CPU_MODULE__FIRST};
    struct pt_profile_file file;
    PT_AUTO(pt_closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (pt_profile_file_open(&file, fd, 0, &header, err) < 0)
        return -1;
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_MODULE, &module, sizeof module);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_THREADS, &thread, sizeof thread);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_NAMES, names, sizeof names);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_NODES, nodes, sizeof nodes);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_SAMPLES, samples, sizeof samples);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_COUNTS, &count, sizeof count);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_TIMES, &times, sizeof times);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_TOTALS, &totals, sizeof totals);
    pt_profile_file_close(&file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct pt_error err = {0};
    char path[4096];
    struct pt_trace_writer *writer = helper_sample();
    snprintf(path, sizeof path, "%s/sample", argv[2]);
    int result;
    if (!strcmp(argv[1], "fuzz_cpu")) {
        char old[4200];
        snprintf(old, sizeof old, "%s/cpu-0.pcp", argv[2]);
        unlink(old);
        result = save_cpu_profile(argv[2], &err);
    } else if (strcmp(argv[1], "fuzz_text") != 0 && strcmp(argv[1], "fuzz_chain") != 0) {
        result = pt_writer_save(writer, path, &err);
    } else {
        PT_AUTO(pt_session_closep) struct pt_session *session = helper_session(writer);
        PT_AUTO(pt_fclosep) FILE *out = fopen(path, "we");
        result = out ? pt_session_write_text(session, out, &err) : -1;
    }
    pt_trace_writer_free(writer);
    if (result < 0)
        fprintf(stderr, "fuzz_seeds: %s\n", err.text);
    return result < 0;
}
