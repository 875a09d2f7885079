/* SPDX-License-Identifier: MIT
 *
 * Owns: what a training's main thread computes besides the model: loading without workers, Python's code, and what the
 * framework does around its operations. Threads: one. Never: counts Python's own files as data, or an import as
 * training.
 */
#include "inline_loading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "behind_steps.h"
#include "facts/state.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/path.h"

/* Less than this share of the main thread's samples in a framework is no training; unless some are in backward passes,
 * which nothing else has; or in a loader, of which Python's stacks know. */
#define LEAST_TRAINING_SHARE 0.02
#define LEAST_BACKWARD 2
#define LEAST_OPTIMIZER_STEPS 20
#define LEAST_FETCHES 2
/* Python's part of reading samples is loading, where at least this share of the time is in files of data or decoders.
 */
#define LEAST_READING_SHARE 0.01
#define LEAST_READ_OF_ARRAYS 0.002 /* of the time; the page cache is fast */
/* Nothing, of what is loaded: one CPU has no time beside the training. */
#define MOST_BEYOND_PERCENT 1000
/* Of Python in a training loop, for the time that a framework takes to find out what to do; measured, 16,000 steps of a
 * small model: 0.43. */
#define PYTHON_OF_DISPATCH 0.5

/* Of the main thread, in samples; all but the first of its training. */
struct share {
    double all, decoder, arrays, framework, operation, python, backward;
    double fetch, decoder_fetch; /* in a loader: what is no decoder, and what is */
    double framework_fetch;      /* of framework, in a loader */
    double framework_beside;     /* of framework, in no phase of a step: the program's own arithmetic */
    double in_phase;             /* of which Python's stacks tell, beside backward passes */
    double python_fetch;         /* of python, in a loader */
    struct {
        double framework, operation, python; /* called behind the backward passes: no part of a step */
    } behind;
    double in_training_s; /* from its first to its last */
};

static bool begins(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (!strncmp(text, *beginnings, strlen(*beginnings)))
            return true;
    return false;
}

/* Goes over the elements of tensors: what an operation is for. The rest of a framework finds out what to do. */
static bool is_operation(const struct pt_cpu_function *function)
{
    static const char *const files[] = {"libmkl",  "libopenblas", "libblas",  "libdnnl", "libXNNPACK",
                                        "libgomp", "libiomp",     "libcblas", NULL};
    static const char *const functions[] = {"at::TensorIteratorBase::for_each",
                                            "at::TensorIteratorBase::serial_for_each",
                                            "at::TensorIteratorBase::parallel_reduce",
                                            "at::TensorIteratorBase::foreach_reduced_elt",
                                            "at::internal::",
                                            "at::parallel_for",
                                            "dnnl::",
                                            "GOMP_",
                                            "__kmpc_",
                                            "mkl_",
                                            "Sleef_",
                                            NULL};
    return function->code == PT_CODE_JIT || begins(function->name, functions) || strstr(function->name, "gemm") ||
           (strstr(function->name, "_kernel") && !strstr(function->name, "wrap_kernel")) ||
           (function->module && begins(pt_base_name(function->module), files));
}

/* Known where Python's stacks are: however short the training, what a loader reads for it is seen. */
static bool is_fetch(const struct pt_cpu_function *function)
{
    return function->code == PT_CODE_SCRIPT && function->file &&
           pt_ends_with(function->file, "torch/utils/data/_utils/fetch.py");
}

struct beginning {
    const char *file, *function; /* parts of both */
    pt_u16 kind;
};

/* What PyTorch's Python begins a phase of a training with, as python/torch_phases.py has them. Libraries of native code
 * without tables to unwind by (MKL) hide the native functions that say the same. */
static pt_u16 phase_of(const struct pt_cpu_function *function)
{
    static const struct beginning beginnings[] = {
        {"/torch/nn/modules/module.py", "_call_impl", PT_IN_PHASE},
        {"/torch/nn/modules/module.py", "zero_grad", PT_IN_PHASE},
        {"/torch/optim/swa_utils.py", "", 0}, /* averages weights: beside the steps */
        {"/torch/optim/lr_scheduler.py", "", 0},
        {"/torch/optim/", "", PT_IN_PHASE},
        {"/torch/amp/grad_scaler.py", "", PT_IN_PHASE},
        {"/torch/cuda/amp/grad_scaler.py", "", PT_IN_PHASE},
        {"/torch/utils/data/", "", PT_IN_PHASE},
        {"/torch/autograd/", "backward", PT_IN_PHASE | PT_IN_BACKWARD},
        {"/torch/serialization.py", "save", PT_IN_PHASE | PT_IN_SAVING},
        {"/torch/serialization.py", "_open_zipfile_writer", PT_IN_PHASE | PT_IN_SAVING},
        {"/torch/serialization.py", "load", PT_IN_DECODER}, /* behind the first step it is samples that are loaded */
    };
    const bool is_script = function->code == PT_CODE_SCRIPT && function->file;
    for (size_t i = 0; is_script && i < sizeof beginnings / sizeof *beginnings; i++)
        if (strstr(function->file, beginnings[i].file) && strstr(function->name, beginnings[i].function))
            return beginnings[i].kind;
    return 0;
}

static bool is_of_arrays(const struct pt_cpu_function *function)
{
    return function->code == PT_CODE_DECODER && function->module && strstr(function->module, "_multiarray_umath");
}

/* The same libraries do both: what is compressed is written. */
static bool is_compressor(const struct pt_cpu_function *function)
{
    static const char *const names[] = {"deflate",
                                        "compress",
                                        "BZ2_bzCompress",
                                        "ZSTD_compress",
                                        "LZ4_compress",
                                        "LZ4F_compress",
                                        "ImagingJpegEncode",
                                        "jpeg_write_",
                                        "jpeg_finish_compress",
                                        "tjCompress",
                                        "tj3Compress",
                                        "ImagingZipEncode",
                                        "png_write_",
                                        "WebPEncode",
                                        "VP8Enc",
                                        "ImagingGifEncode",
                                        "ImagingLibTiffEncode",
                                        "TIFFWrite",
                                        "ImagingJpeg2KEncode",
                                        "opj_encode",
                                        "heif_context_encode",
                                        "avcodec_send_frame",
                                        "avcodec_receive_packet",
                                        "sf_write",
                                        "FLAC__stream_encoder",
                                        "cv::imwrite",
                                        "cv::imencode",
                                        NULL};
    return function->code == PT_CODE_DECODER && begins(function->name, names);
}

static pt_u16 kind_of(const struct pt_cpu_function *function)
{
    static const char *const steps[] = {"at::_ops::", NULL}, *const backward[] = {"torch::autograd::Engine", NULL};
    static const char *const imports[] = {"PyImport_",           "_PyImport_", "Py_Finalize",
                                          "__run_exit_handlers", "exit",       NULL};
    return (pt_u16)((function->code == PT_CODE_DECODER ? PT_IN_DECODER : 0) |
                    (is_compressor(function) ? PT_IN_SAVING : 0) |
                    (function->code == PT_CODE_FRAMEWORK ? PT_IN_FRAMEWORK : 0) |
                    (is_operation(function) ? PT_IN_OPERATION : 0) |
                    (begins(function->name, imports) || pt_python_is_importer(function->file) ? PT_IN_IMPORT : 0) |
                    (function->code == PT_CODE_LOADER ? PT_IN_LOADER : 0) |
                    (begins(function->name, steps) ? PT_IN_STEP : 0) |
                    (begins(function->name, backward) ? PT_IN_STEP | PT_IN_BACKWARD | PT_IN_PHASE : 0) |
                    (is_fetch(function) ? PT_IN_FETCH : 0) | (is_of_arrays(function) ? PT_IN_ARRAYS : 0) |
                    phase_of(function));
}

/* Many operations are a loop in such a function, or in one that it calls, whose name a stripped library does not have.
 * What it calls by name may be anything: memory for its result, other operations. */
static bool is_body(const struct pt_cpu_function *function, bool is_below_one)
{
    static const char *const names[] = {"at::native::structured_", "at::vec::", "at::native::normal_",
                                        "at::native::uniform_", "at::native::random_"};
    const bool is_nameless = function->name[0] == '[';
    bool is_one = is_nameless && is_below_one;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_one |= strstr(function->name, names[i]) != NULL; /* behind a template's type, maybe */
    return is_one && function->code == PT_CODE_FRAMEWORK;
}

/* Copying and filling are operations, too, with the pages that are missing there. */
static bool is_memory_routine(const struct pt_cpu_function *function)
{
    static const char *const routines[] = {"memcpy", "memmove", "memset", "__memcpy", "__memmove", "__memset", NULL};
    return begins(function->name, routines);
}

/* The kernel was entered from a framework's own code, which leaves system calls to libc: pages of tensors are missing.
 */
static bool is_page_fault(const struct pt_cpu_view *view, pt_u32 frame)
{
    const struct pt_cpu_frame *frames = view->frames.items;
    return view->functions.items[frames[frame].function].code == PT_CODE_KERNEL &&
           view->functions.items[frames[frames[frame].parent].function].code == PT_CODE_FRAMEWORK;
}

/* A frame inherits from what called it: malloc in a decoder is decoding, what the loader of libraries calls is an
 * import. A parent's number is less than its child's. */
pt_u16 *pt_training_codes(const struct pt_cpu_view *view)
{
    pt_u16 *kinds = pt_calloc(view->frames.n, sizeof *kinds);
    PT_AUTO(pt_freep) bool *bodies = pt_calloc(view->frames.n, sizeof *bodies);
    for (size_t i = 1; i < view->frames.n; i++) {
        const struct pt_cpu_function *function = pt_cpu_function_of(view, i);
        const pt_u32 parent = view->frames.items[i].parent;
        const pt_u16 above = kinds[parent];
        const bool was_loaded = above & PT_IN_LOADER && function->code == PT_CODE_FRAMEWORK;
        const bool copies = (above & PT_IN_FRAMEWORK && is_memory_routine(function)) || is_page_fault(view, (pt_u32)i);
        kinds[i] =
            (pt_u16)(above | kind_of(function) | (was_loaded ? PT_IN_IMPORT : 0) | (copies ? PT_IN_OPERATION : 0));
        bodies[i] = is_body(function, bodies[parent]);
    }
    for (size_t i = 1; i < view->frames.n; i++)
        kinds[i] |= bodies[i] ? PT_IN_OPERATION : 0;
    pt_mark_behind_steps(view, kinds);
    return kinds;
}

static struct pt_training_window sampled_window(const struct pt_cpu_view *view, const struct pt_cpu_timeline *cpu,
                                                pt_u32 thread, const pt_u16 *kinds)
{
    struct pt_training_window window = {0};
    pt_i64 n = 0;
    bool is_training = false;
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++) {
        const struct pt_cpu_state *state = &cpu->states[i];
        const pt_u16 kind = state->flags & PT_CPU_RAN ? kinds[view->frame_of[state->node]] : 0;
        const bool is_step = kind & PT_IN_FRAMEWORK && kind & (PT_IN_OPERATION | PT_IN_STEP | PT_IN_PHASE);
        is_training |= (kind & PT_IN_BACKWARD) != 0;
        n = kind & PT_IN_IMPORT && !is_training ? 0 : n; /* what was called before is set-up: training/loop.c */
        if (!(is_step || kind & PT_IN_FETCH) || kind & PT_IN_IMPORT)
            continue;
        window.start_ns = n++ ? window.start_ns : state->start_ns;
        window.end_ns = state->start_ns;
    }
    const pt_i64 apart_ns = n > 1 ? (window.end_ns - window.start_ns) / (n - 1) : 0;
    return (struct pt_training_window){window.start_ns - apart_ns, window.end_ns + apart_ns};
}

struct pt_training_window pt_training_window(const struct pt_profile *profile, pt_u32 stage, pt_u32 thread,
                                             const pt_u16 *kinds)
{
    struct pt_training_window window =
        sampled_window(&profile->facts->views[stage], pt_facts_cpu(profile->facts, stage), thread, kinds);
    const double from_ns = 1e9 * pt_stage_number(profile, stage, "training.steps.from_s");
    const double until_ns = 1e9 * pt_stage_number(profile, stage, "training.steps.until_s");
    if (!(until_ns > from_ns))
        return window;
    const bool is_sampled = window.end_ns > 0;
    window.start_ns = is_sampled && (double)window.start_ns < from_ns ? window.start_ns : (pt_i64)from_ns;
    window.end_ns = is_sampled && (double)window.end_ns > until_ns ? window.end_ns : (pt_i64)until_ns;
    return window;
}

/* Checkpoints, and what NumPy does behind the steps: metrics and logs. In a loader nothing is: a JPEG may be written to
 * train with what it loses. */
static bool is_beside(pt_u16 kind)
{
    return !(kind & PT_IN_FETCH) && (kind & PT_IN_SAVING || (kind & PT_IN_ARRAYS && pt_is_behind_steps(kind)));
}

static void count_framework(struct share *share, pt_u16 kind)
{
    const bool is_behind = pt_is_behind_steps(kind);
    if (kind & PT_IN_OPERATION) {
        share->operation++;
        share->behind.operation += is_behind;
        return;
    }
    share->framework++;
    share->behind.framework += is_behind;
    share->framework_fetch += (kind & PT_IN_FETCH) != 0;
    share->framework_beside += !(kind & PT_IN_PHASE);
}

/* A decoder may ask a framework for something: that is decoding. */
static void count(struct share *share, pt_u16 kind, bool is_outside_calls, bool runs_python)
{
    const bool is_fetch = kind & PT_IN_FETCH;
    if (is_beside(kind))
        return;
    share->backward += (kind & PT_IN_BACKWARD) != 0;
    share->in_phase += (kind & (PT_IN_PHASE | PT_IN_BACKWARD)) == PT_IN_PHASE;
    if (kind & PT_IN_DECODER) {
        share->decoder++;
        share->arrays += (kind & PT_IN_ARRAYS) != 0;
        share->decoder_fetch += is_fetch;
        return;
    }
    share->fetch += is_fetch && is_outside_calls;
    if (kind & PT_IN_FRAMEWORK) {
        count_framework(share, kind);
        return;
    }
    const bool is_python = is_outside_calls && runs_python;
    share->python += is_python;
    share->python_fetch += is_fetch && is_python;
    share->behind.python += is_python && pt_is_behind_steps(kind);
}

static struct share share_of(const struct pt_profile *profile, pt_u32 stage, pt_u32 thread)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(profile->facts, stage);
    struct share share = {0};
    PT_AUTO(pt_freep) pt_u16 *kinds = pt_training_codes(view);
    const struct pt_training_window training = pt_training_window(profile, stage, thread, kinds);
    share.in_training_s = (double)(training.end_ns - training.start_ns) / 1e9;
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++) {
        const struct pt_cpu_state *state = &cpu->states[i];
        if (!(state->flags & PT_CPU_RAN))
            continue;
        const pt_u16 kind = kinds[view->frame_of[state->node]];
        share.all++;
        if (state->start_ns < training.start_ns || state->start_ns > training.end_ns || kind & PT_IN_IMPORT)
            continue;
        count(&share, kind, !state->part, view->runs_python[state->node]);
    }
    return share;
}

/* Workers that are no processes are threads: what they read the training does not wait for. Where there may be some,
 * the main thread's own reads tell, beginning with its first loader: not those for its list of files. Who only calls a
 * model may have such threads and no loader that tells. */
static double files_s(const struct pt_metrics *metrics, struct pt_scope scope)
{
    const struct pt_value ahead = pt_metrics_get(metrics, scope, "training.loads_ahead_percent");
    const char *name = ahead.type == PT_VALUE_UNKNOWN ? "io.groups.data_in_main_s"
                       : pt_value_number(ahead) > 0   ? "io.groups.data_loaded_in_main_s"
                                                      : "io.groups.data_s";
    return fmax(pt_value_number(pt_metrics_get(metrics, scope, name)), 0); /* unknown: nothing was read */
}

static bool has_loader(const struct share *share)
{
    return share->fetch + share->decoder_fetch >= LEAST_FETCHES;
}

/* Samples in which data was decoded. Who neither has a loader nor reads files computes with arrays. */
static double decoded(const struct share *share, double share_read)
{
    return share->decoder - (has_loader(share) || share_read >= LEAST_READ_OF_ARRAYS ? 0 : share->arrays);
}

static void set_parts(struct pt_metrics *metrics, struct pt_scope scope, const struct share *share, double sample_s)
{
    pt_metrics_set(metrics, scope, "training.operations_s", pt_real(share->operation * sample_s));
    pt_metrics_set(metrics, scope, "training.dispatch_s", pt_real(share->framework * sample_s));
    pt_metrics_set(metrics, scope, "training.python_s", pt_real(share->python * sample_s));
    pt_metrics_set(metrics, scope, "training.loading.dispatch_s", pt_real(share->framework_fetch * sample_s));
    pt_metrics_set(metrics, scope, "training.loading.python_s", pt_real(share->python_fetch * sample_s));
    pt_metrics_set(metrics, scope, "training.behind.operations_s", pt_real(share->behind.operation * sample_s));
    pt_metrics_set(metrics, scope, "training.behind.dispatch_s", pt_real(share->behind.framework * sample_s));
    pt_metrics_set(metrics, scope, "training.behind.python_s", pt_real(share->behind.python * sample_s));
}

/* Whose it is. Where Python's stacks are not seen, nobody knows what is beside the phases. */
static void set_dispatch(struct pt_metrics *metrics, struct pt_scope scope, const struct share *share)
{
    const double all = share->framework;
    pt_metrics_set(metrics, scope, "training.dispatch_in_loading_percent",
                   all > 0 ? pt_real(100 * share->framework_fetch / all) : pt_unknown(NULL));
    pt_metrics_set(metrics, scope, "training.dispatch_beside_percent",
                   all > 0 && share->in_phase > 0 ? pt_real(100 * share->framework_beside / all) : pt_unknown(NULL));
}

/* What workers can take off the training: they load while it trains, but share its CPUs. A training that does next to
 * nothing but load has half of that from two workers on two CPUs. */
static double beside_training_s(const struct pt_profile *profile, const struct share *share, double computes_s,
                                double reads_s)
{
    const double cpus = pt_profile_usable_cpus(profile);
    const double loads_s = computes_s + reads_s, trains_s = fmax(share->in_training_s - loads_s, 0);
    const double least_s = isnan(cpus) ? 0 : (computes_s + trains_s) / cpus;
    return fmax(fmin(loads_s, loads_s + trains_s - least_s), 0);
}

/* What Python takes more than its part of a training loop prepares data. */
void pt_loading(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view, pt_u32 main_thread)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct share share = share_of(profile, stage, main_thread);
    /* What others took of the CPUs says nothing about the program. */
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9 -
                          (main_thread ? (double)pt_cpu_runnable_ns(&view->data->times[main_thread]) / 1e9 : 0);
    const bool is_loader_seen = has_loader(&share);
    const double trains = share.framework + share.operation;
    const bool is_training = trains >= LEAST_TRAINING_SHARE * share.all || share.backward >= LEAST_BACKWARD ||
                             is_loader_seen ||
                             pt_stage_number(profile, stage, "training.optimizer_steps.count") >= LEAST_OPTIMIZER_STEPS;
    if (!main_thread || !is_training || share.all <= 0 || wall_s <= 0)
        return;
    const double sample_s = view->sample_s[main_thread];
    const double read_s = files_s(metrics, scope);
    const double decode_s = decoded(&share, read_s / wall_s) * sample_s;
    const double preparing_s =
        fmax(fmax(0, share.python - PYTHON_OF_DISPATCH * share.framework), share.fetch) * sample_s;
    pt_metrics_set(metrics, scope, "training.dispatch_percent", pt_real(100 * share.framework * sample_s / wall_s));
    /* Of the training, not of the program: a short trial run imports for longer than it trains, a long one does not. */
    pt_metrics_set(metrics, scope, "training.window_s", pt_real(fmin(share.in_training_s, wall_s)));
    pt_metrics_set(metrics, scope, "training.preparing_percent",
                   share.in_training_s > 0 ? pt_real(100 * preparing_s / fmin(share.in_training_s, wall_s))
                                           : pt_unknown(NULL));
    set_parts(metrics, scope, &share, sample_s);
    set_dispatch(metrics, scope, &share);
    pt_metrics_set(metrics, scope, "training.preparing_s", pt_real(preparing_s));
    if (pt_value_number(pt_metrics_get(metrics, scope, "helpers.workers.count")) > 0)
        return;
    const double loads_s = is_loader_seen ? share.fetch * sample_s : preparing_s;
    pt_metrics_set(metrics, scope, "load.in_main.decode_s", pt_real(decode_s));
    pt_metrics_set(metrics, scope, "load.in_main.files_s", pt_real(read_s));
    pt_metrics_set(metrics, scope, "load.in_main.python_s", pt_real(loads_s));
    /* Samples become tensors: of what the framework does for Python, the part that Python has in preparing them. */
    const double tensors_s = !is_loader_seen && share.python > 0 ? share.framework * preparing_s / share.python : 0;
    const double computes_s = decode_s + loads_s + tensors_s;
    const double beside_s = beside_training_s(profile, &share, computes_s, read_s);
    pt_metrics_set(metrics, scope, "load.in_main.cost_s", pt_real(computes_s + read_s));
    pt_metrics_set(metrics, scope, "load.in_main.beyond_workers_percent",
                   pt_real(fmin(100 * (computes_s + read_s - beside_s) / fmax(beside_s, 1e-9), MOST_BEYOND_PERCENT)));
    const double share_read = (decode_s + read_s) / wall_s;
    const double share_loading = share_read + (share_read >= LEAST_READING_SHARE ? loads_s / wall_s : 0);
    pt_metrics_set(metrics, scope, "load.in_main.percent", pt_real(100 * share_loading));
}
