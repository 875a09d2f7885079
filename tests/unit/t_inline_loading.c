/* SPDX-License-Identifier: MIT
 *
 * t_inline_loading.c - a short training whose main thread reads its samples: hardly a sample is in an operation, most
 * are in imports, and Python's stacks show the loader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/cpu/inline_loading.h"
#include "cpu_file/write.h"
#include "helper_files.h"
#include "model/text/read.h"
#include "run_file/read.h"

static char story[] =
    "proftrace-text 1 start_realtime_ns=1705320000000000000\n"
    "process 100 ppid=1 trace_id=0x64 start=0.000000000 uid=1000 end=2.000000000 state=exited exit_status=0 "
    "cpu_ns=2000000000 boot=\"b\" host=\"h1\" stage=\"train\" comm=\"python3\" exe=\"/usr/bin/python3\" "
    "cwd=\"/data\" argc=1 argv=[\"train.py\"]\n"
    "thread 100/100 slot=0 life=1 start=0.000000000\n";

static const char launcher[] = "{\"schema_version\": \"1.0\", \"start_realtime_ns\": 1705320000000000000, "
                               "\"duration_ns\": 2000000000, \"stages\": [{\"stage\": \"train\", \"status\": \"ok\", "
                               "\"command\": [\"train.py\"], \"start_ns\": 0, \"duration_ns\": 2000000000}]}";

enum { N_SAMPLES = 200, N_IMPORTS = 150, LIBJPEG = PT_CPU_MODULE__FIRST, PYTHON = PT_CPU_MODULE_PYTHON };
enum { IN_MAIN = 1, IN_IMPORT, IN_IMPORTED_DECODER, IN_FETCH, IN_ITEM, IN_DECODER, IN_SAVE, IN_SAVED };

/* From 1. */
static const char names[] = "1:1:<module>:/app/train.py\0"
                            "241:233:_call_with_frames_removed:<frozen importlib._bootstrap>\0"
                            "58:50:_MapDatasetFetcher.fetch:/opt/torch/utils/data/_utils/fetch.py\0"
                            "30:20:Samples.__getitem__:/app/train.py\0"
                            "900:890:save:/opt/torch/serialization.py";

/* One and a half seconds of imports, a third of them in a library that decodes; 0.3 s decode in the loader, a third of
 * that for what a data set keeps for its next time; 0.1 s are in the data set's own code, 0.1 s in the loop. */
static pt_u32 node_of(pt_u32 sample)
{
    if (sample < N_IMPORTS)
        return sample % 3 ? IN_IMPORT : IN_IMPORTED_DECODER;
    const pt_u32 of_five = sample % 5;
    return of_five == 4 ? IN_MAIN : of_five == 3 ? IN_ITEM : of_five == 2 ? IN_SAVED : IN_DECODER;
}

static void write_profile(pt_u64 begin_monotonic_ns)
{
    static const struct pt_cpu_thread threads[] = {{.number = 1, .pid = 100, .tid = 100}};
    static const struct pt_cpu_node nodes[] = {
        {0, PYTHON, 1},        {IN_MAIN, PYTHON, 2},     {IN_IMPORT, LIBJPEG, 4096}, {IN_MAIN, PYTHON, 3},
        {IN_FETCH, PYTHON, 4}, {IN_ITEM, LIBJPEG, 4096}, {IN_ITEM, PYTHON, 5},       {IN_SAVE, LIBJPEG, 4096}};
    static const struct pt_cpu_times times = {
        .thread = 1, .on_cpu_ns = 2000000000, .end_ns = 2000000000, .samples = N_SAMPLES};
    static const struct pt_cpu_totals totals = {.duration_ns = 2000000000, .samples = N_SAMPLES};
    static const char path[] = "/usr/lib/libjpeg.so.62";
    char module[sizeof(struct pt_cpu_module) + sizeof path - 1];
    memcpy(module, &(struct pt_cpu_module){.number = LIBJPEG}, sizeof(struct pt_cpu_module));
    memcpy(module + sizeof(struct pt_cpu_module), path, sizeof path - 1);
    struct pt_cpu_sample samples[N_SAMPLES];
    for (pt_u32 i = 0; i < N_SAMPLES; i++)
        samples[i] = (struct pt_cpu_sample){i * 10000000ull + 5000000, 1, node_of(i)};
    const struct pt_cpu_header header = {.magic = PT_CPU_MAGIC,
                                         .version = PT_CPU_VERSION,
                                         .header_bytes = sizeof header,
                                         .begin_monotonic_ns = begin_monotonic_ns,
                                         .begin_realtime_ns = 1705320000000000000,
                                         .period_ns = 10000000,
                                         .flags = PT_CPU_SAMPLED | PT_CPU_INTERVALS,
                                         .root_pid = 100};
    struct pt_profile_file file;
    struct pt_error err = {0};
    const int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_profile_file_open(&file, fd, 0, &header, &err), 0);
    close(fd);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_MODULE, module, sizeof module);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_NAMES, names, sizeof names);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_THREADS, threads, sizeof threads);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_NODES, nodes, sizeof nodes);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_SAMPLES, samples, sizeof samples);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_TIMES, &times, sizeof times);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_TOTALS, &totals, sizeof totals);
    pt_profile_file_close(&file);
}

static void expect(const struct pt_profile *profile, const char *name, double value)
{
    const double is = pt_value_number(pt_metrics_get(&profile->metrics, pt_scope_stage(0), name));
    if (!(is > 0.99 * value && is < 1.01 * value))
        fail_msg("%s is %g, not %g", name, is, value);
}

struct analyzed {
    struct pt_session *session;
    struct pt_run_info *run;
    struct pt_profile profile;
};

static void analyze(struct analyzed *run, char *text)
{
    struct pt_error err = {0};
    char directory[] = "run.XXXXXX"; /* of each its own */
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    FILE *in = fmemopen(text, strlen(text), "r");
    if (pt_session_read_text(in, "story", ".", &err) < 0)
        fail_msg("%s", err.text);
    fclose(in);
    write_text("run.json", launcher);
    assert_int_equal(pt_run_info_read(".", &run->run, &err), 0);
    run->session = pt_session_open(".", &err);
    assert_non_null(run->session);
    write_profile(run->session->processes[0]->start_monotonic_ns);
    run->profile = (struct pt_profile){.session = run->session, .run = run->run};
    assert_int_equal(pt_analyze(&run->profile, &err), 0);
}

static void free_analyzed(struct analyzed *run)
{
    pt_profile_free(&run->profile);
    pt_session_close(run->session);
    pt_run_info_free(run->run);
    assert_int_equal(chdir(".."), 0);
}

static void a_loader_is_seen_without_operations(void **state)
{
    struct analyzed run;
    (void)state;
    analyze(&run, story);
    expect(&run.profile, "load.in_main.decode_s", 0.3);
    expect(&run.profile, "load.in_main.python_s", 0.1); /* not the loop itself */
    expect(&run.profile, "load.in_main.cost_s", 0.4);
    expect(&run.profile, "load.in_main.percent", 20); /* of all 2 s */
    free_analyzed(&run);
}

/* A PyDataset(workers=8), or tf.data, which tells none: its threads read while the training goes on. What the main
 * thread reads before its first loader is no sample. Behind Keras' iterator on PyTorch, and where a model is only
 * called, may be threads or none: who reads tells. */
static void what_threads_read_ahead_is_not_loaded_in_main(void **state)
{
    static const struct {
        const char *data, *workers, *reader; /* no data: a model is called, and nothing else is seen */
        double loader_s, cost_s;
    } cases[] = {{"Data", "0", "101", 0.9, 0.9},
                 {"Data", "8", "101", 0.9, 0.4},
                 {"Data", "8", "100", 0.9, 0.9}, /* of another data set, which has no workers */
                 {"Data", "8", "100", 1.55, 0.4},
                 {"Data", "4294967295", "101", 0.9, 0.4},
                 {"Data", "4294967295", "100", 1.55, 0.4},
                 {"ConverterIterableDataset", "0", "101", 0.9, 0.4},
                 {"ConverterIterableDataset", "0", "100", 0.9, 0.9},
                 {NULL, "", "101", 0.9, 0.4},
                 {NULL, "", "100", 0.9, 0.9}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *reader = cases[i].reader;
        char loader[256] = "", text[4096];
        struct analyzed run;
        if (cases[i].data)
            snprintf(loader, sizeof loader,
                     "%.9f 100/100 phase_begin phase=loader_start object=0x10 name=\"%s\"\n"
                     "%.9f 100/100 phase_end outcome=done amount=%s object=0x20\n",
                     cases[i].loader_s, cases[i].data, cases[i].loader_s, cases[i].workers);
        snprintf(text, sizeof text,
                 "%sthread 100/101 slot=1 life=1 start=0.000000000\n"
                 "%s"
                 "1.000000000 +0.250000000 100/%s io_read fd=3 result=4096 path=\"/data/1\" requested_bytes=4096\n"
                 "1.250000000 +0.250000000 100/%s io_read fd=3 result=4096 path=\"/data/2\" requested_bytes=4096\n"
                 "%s%s"
                 "1.610000000 100/100 phase_begin phase=%s object=0x0\n"
                 "1.700000000 100/100 phase_end outcome=done amount=0 object=0x0\n",
                 story, cases[i].loader_s < 1 ? loader : "", reader, reader, cases[i].loader_s < 1 ? "" : loader,
                 cases[i].data ? "1.600000000 100/100 phase_begin phase=data_wait object=0x20\n"
                                 "1.610000000 100/100 phase_end outcome=done amount=4 object=0x0\n"
                               : "",
                 cases[i].data ? "backward" : "forward");
        analyze(&run, text);
        expect(&run.profile, "load.in_main.cost_s", cases[i].cost_s);
        free_analyzed(&run);
    }
}

/* Who saves pictures would be told of loading. */
static void what_compresses_is_saved(void **state)
{
    static const struct {
        const char *name;
        bool is_saved;
    } cases[] = {{"jpeg_write_scanlines", true},
                 {"jpeg_finish_compress", true},
                 {"ImagingJpegEncode", true},
                 {"tjCompress2", true},
                 {"tj3Compress8", true},
                 {"deflate", true},
                 {"png_write_row", true},
                 {"jpeg_read_scanlines", false},
                 {"jpeg_finish_decompress", false},
                 {"ImagingJpegDecode", false},
                 {"tjDecompress2", false},
                 {"inflate", false},
                 {"WebPEncode", true},
                 {"VP8EncLoop", true},
                 {"ImagingGifEncode", true},
                 {"ImagingLibTiffEncode", true},
                 {"TIFFWriteEncodedStrip", true},
                 {"ImagingJpeg2KEncode", true},
                 {"opj_encode", true},
                 {"heif_context_encode_image", true},
                 {"avcodec_send_frame", true},
                 {"avcodec_receive_packet", true},
                 {"sf_writef_float", true},
                 {"FLAC__stream_encoder_process", true},
                 {"cv::imencode", true},
                 {"cv::imwrite(cv::String const&, cv::_InputArray const&, std::vector<int> const&)", true},
                 {"WebPDecode", false},
                 {"ImagingGifDecode", false},
                 {"ImagingLibTiffDecode", false},
                 {"TIFFReadEncodedStrip", false},
                 {"ImagingJpeg2KDecode", false},
                 {"opj_decode", false},
                 {"avcodec_send_packet", false},
                 {"avcodec_receive_frame", false},
                 {"sf_readf_float", false},
                 {"cv::imread(cv::String const&, int)", false},
                 {"cv::imdecode", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_cpu_function functions[] = {{.name = ""}, {.name = cases[i].name, .code = PT_CODE_DECODER}};
        struct pt_cpu_frame frames[] = {{.parent = 0}, {.function = 1}};
        struct pt_cpu_data data = {0};
        const struct pt_cpu_view view = {
            .data = &data, .functions = {.items = functions, .n = 2}, .frames = {.items = frames, .n = 2}};
        pt_u16 *codes = pt_training_codes(&view);
        if (!(codes[1] & PT_IN_SAVING) != !cases[i].is_saved || !(codes[1] & PT_IN_DECODER))
            fail_msg("%s: %x", cases[i].name, codes[1]);
        free(codes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loader_is_seen_without_operations),
                                       cmocka_unit_test(what_threads_read_ahead_is_not_loaded_in_main),
                                       cmocka_unit_test(what_compresses_is_saved)};
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
