/* SPDX-License-Identifier: MIT
 *
 * export.c - `proftrace export`: a run in another tool's format.
 *
 * Owns: options, the name and the size limit of the output, the summary line. Threads: main only. Never: leaves half a
 * file. */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "profile/open.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "util/mem.h"
#include "util/new_file.h"
#include "util/text/path.h"
#include "util/text/sanitize.h"
#include "arguments/open_run.h"
#include "arguments/options.h"

#define SIZE_OF_FORMAT UINT64_MAX /* --max-size is not given */
#define ALL_PIDS UINT64_MAX

struct request {
    const char *format, *output, *stage;
    pt_i64 from_ns, until_ns, since_ns, min_duration_ns;
    pt_u64 pid, max_bytes;
    bool force, json, off_cpu, is_silent;
};

/* For help. */
static const char format_list[] = "one of:"
#define EXPORTER(name, ...) " " #name
#define EXPORTER_STACKS EXPORTER
#define EXPORTER_FIGURES EXPORTER
#define EXPORTER_FOLDER EXPORTER
#include "export/exporters.def"
#undef EXPORTER
#undef EXPORTER_STACKS
#undef EXPORTER_FIGURES
    ;
static const char off_cpu_doc[] = "stacks that wait, not those that run, with --to"
#define EXPORTER(name, ...)
#define EXPORTER_STACKS(name, ...) " " #name
#define EXPORTER_FIGURES(name, ...)
#include "export/exporters.def"
#undef EXPORTER
#undef EXPORTER_STACKS
#undef EXPORTER_FIGURES
#undef EXPORTER_FOLDER
    ;

/* What to say of a name that is no format's. */
static int unknown_format(const char *name, struct pt_error *err)
{
    char exist[200] = "";
    const char *names[32] = {NULL};
    for (pt_u32 i = 0; i < pt_n_exporters && i < 31; i++) {
        snprintf(exist + strlen(exist), sizeof exist - strlen(exist), "%s%s", i ? ", " : "", pt_exporters[i].name);
        names[i] = pt_exporters[i].name;
    }
    if (!name)
        return pt_fail_code(err, 2, "--to is missing; formats: %s", exist);
    const char *nearest = pt_nearest_name(name, names);
    if (nearest)
        return pt_fail_code(err, 2, "unknown format '%s'; did you mean '%s'?", name, nearest);
    return pt_fail_code(err, 2, "unknown format '%s'; formats: %s", name, exist);
}

/* In the run directory, or next to a single trace file: whoever else could write there has not been asked by the user.
 * `shown` is for the place. */
static int place_in_run(const struct pt_session *session, const char *file_name, struct pt_str *shown,
                        struct pt_out_place *ret_place, struct pt_error *err)
{
    struct stat st;
    PT_AUTO(pt_str_fini) struct pt_str folder = {0};
    const char *slash = strrchr(session->path, '/');
    const bool is_run = stat(session->path, &st) == 0 && S_ISDIR(st.st_mode);
    if (is_run)
        pt_str_printf(&folder, "%s/", session->path);
    else if (slash)
        pt_str_bytes(&folder, session->path, (size_t)(slash - session->path + 1));
    const int fd = pt_folder_open_own(folder.n ? pt_str_text(&folder) : ".", err);
    if (fd < 0)
        return pt_error_context(err, "say with -o where to write");
    pt_str_printf(shown, "%s%s", pt_str_text(&folder), file_name);
    *ret_place = (struct pt_out_place){fd, file_name, pt_str_text(shown)};
    return 0;
}

/* What was written, and where. */
struct output {
    const struct pt_out_place *place;
    struct pt_export_summary summary;
    struct pt_sink_result file;
};

static int print_json(const struct output *output)
{
    const struct pt_export_summary *summary = &output->summary;
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "file", output->place->shown);
    pt_json_u64(&json, "bytes", output->file.bytes);
    pt_json_u64(&json, "file_bytes", output->file.file_bytes);
    pt_json_u64(&json, "slices", summary->slices);
    pt_json_u64(&json, "instants", summary->instants);
    pt_json_u64(&json, "counters", summary->counters);
    pt_json_u64(&json, "flows", summary->flows);
    pt_json_u64(&json, "processes", summary->processes);
    pt_json_u64(&json, "tracks", summary->tracks);
    pt_json_u64(&json, "moved", summary->moved);
    pt_json_u64(&json, "left_out", summary->left_out);
    pt_json_end(&json);
    return pt_json_close(&json);
}

/* The advice for a file that is too large for viewers. */
static const char *smaller(const struct pt_exporter *exporter)
{
    return strcmp(exporter->name, "chrome") ? "--from, --until, --pid, --stage and --min-dur make it smaller"
                                            : "--to perfetto holds any size; --from, --until, --pid, --stage and "
                                              "--min-dur make it smaller";
}

static void print_summary(const struct pt_exporter *exporter, const struct output *output)
{
    const struct pt_export_summary *summary = &output->summary;
    const struct pt_sink_result *file = &output->file;
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    pt_sanitize_terminal(&shown, strcmp(output->place->shown, "-") != 0 ? output->place->shown : "standard output");
    fprintf(stderr,
            "proftrace: wrote %s: %llu slices, %llu instants, %llu counter points, %llu flows; %llu processes, "
            "%llu tracks; %.1f MB, %.1f MB in the viewer\n",
            pt_str_text(&shown), (unsigned long long)summary->slices, (unsigned long long)summary->instants,
            (unsigned long long)summary->counters, (unsigned long long)summary->flows,
            (unsigned long long)summary->processes, (unsigned long long)summary->tracks, (double)file->file_bytes / 1e6,
            (double)file->bytes / 1e6);
    if (summary->moved)
        fprintf(stderr, "proftrace: %llu slices overlapped others of their thread and are on rows of their own\n",
                (unsigned long long)summary->moved);
    if (*summary->note)
        fprintf(stderr, "proftrace: %s\n", summary->note);
    if (summary->left_out)
        fprintf(stderr, "proftrace: %llu event%s could not be shown\n", (unsigned long long)summary->left_out,
                summary->left_out == 1 ? "" : "s");
    if (exporter->warn_bytes && file->bytes > exporter->warn_bytes)
        fprintf(stderr, "proftrace: over %llu MB, viewers will be slow; %s\n",
                (unsigned long long)(exporter->warn_bytes / 1000000), smaller(exporter));
}

static struct pt_export_options options_of(const struct pt_exporter *exporter, const struct request *request)
{
    const pt_u64 limit = request->max_bytes == SIZE_OF_FORMAT ? exporter->refuse_bytes : request->max_bytes;
    return (struct pt_export_options){.filter = {.from_ns = request->from_ns,
                                                 .until_ns = request->until_ns,
                                                 .pid = request->pid == ALL_PIDS ? 0 : (pt_u32)request->pid,
                                                 .min_duration_ns = request->min_duration_ns,
                                                 .stage = request->stage},
                                      .since_ns = request->since_ns,
                                      .max_bytes = request->force ? 0 : limit,
                                      .off_cpu = request->off_cpu};
}

static const char *why_nothing(const struct pt_exporter *exporter, const struct pt_export_options *options)
{
    const struct pt_filter *filter = &options->filter;
    const bool has_filters = filter->pid || filter->stage || filter->from_ns || filter->until_ns || options->since_ns;
    return exporter->has_stacks && !has_filters ? "no CPU sample was taken: the run was too short, or was not sampled"
                                                : "no process of the run matches --pid, --stage, --from and --until";
}

static int write_one(struct pt_session *session, const struct pt_exporter *exporter,
                     const struct pt_export_options *options, struct output *output, struct pt_error *err)
{
    struct pt_sink *sink =
        pt_sink_open(output->place, pt_ends_with(output->place->name, ".gz") ? PT_SINK_PACKED : PT_SINK_PLAIN,
                     options->max_bytes, err);
    if (!sink)
        return -1;
    if (exporter->write(session, options, sink, &output->summary, err) < 0) {
        pt_sink_abandon(sink);
        return -1;
    }
    if (!output->summary.processes && session->n_processes) {
        pt_sink_abandon(sink);
        return pt_fail_code(err, 2, "%s", why_nothing(exporter, options));
    }
    if (pt_sink_close(sink, &output->file, err) < 0) {
        if (err->exit_code == 2)
            pt_error_context(err, "too large for a viewer (%s; --force writes it all)", smaller(exporter));
        return -1;
    }
    return 0;
}

static int write_folder(struct pt_session *session, const struct pt_exporter *exporter,
                        const struct pt_export_options *options, struct output *output, struct pt_error *err)
{
    const char *path = output->place->name;
    if (!strcmp(path, "-") || pt_ends_with(path, ".json") || pt_ends_with(path, ".gz"))
        return pt_fail_code(err, 2, "--to %s writes a file for each process: give -o the name of a folder",
                            exporter->name);
    return exporter->write_folder(session, options, output->place, &output->summary, &output->file, err);
}

static int write_output(struct pt_session *session, const struct pt_exporter *exporter, const struct request *request,
                        const struct pt_out_place *place, struct pt_error *err)
{
    struct output output = {.place = place};
    const struct pt_export_options options = options_of(exporter, request);
    if ((exporter->write ? write_one : write_folder)(session, exporter, &options, &output, err) < 0)
        return -1;
    if (!request->is_silent)
        print_summary(exporter, &output);
    if (request->json && print_json(&output) < 0)
        return pt_fail(err, "cannot write the summary to stdout");
    return 0;
}

static bool is_of_events(const struct request *request)
{
    return request->pid != ALL_PIDS || request->from_ns || request->until_ns || request->min_duration_ns;
}

static int check_format(const struct request *request, const struct pt_exporter *exporter, struct pt_error *err)
{
    if (!exporter)
        return unknown_format(request->format, err);
    if (request->off_cpu && !exporter->has_stacks)
        return pt_fail_code(err, 2, "--off-cpu shows stacks, and --to %s has none", exporter->name);
    if (exporter->has_figures && is_of_events(request))
        return pt_fail_code(err, 2,
                            "--to %s has figures of whole stages: --stage and --since choose them; --pid, --from, "
                            "--until and --min-dur cannot",
                            exporter->name);
    if (request->json && request->output && !strcmp(request->output, "-") && exporter->write)
        return pt_fail_code(err, 2,
                            "--json prints to standard output, and -o - writes the data there: name a file with -o");
    return 0;
}

/* `exporter` = that of request->format; NULL = there is none. */
static int check(struct request *request, const struct pt_exporter *exporter, struct pt_error *err)
{
    if (request->since_ns == 0)
        return pt_fail_code(err, 2, "option '--since': it looks back, so it is more than 0");
    if (request->until_ns == 0)
        return pt_fail_code(err, 2, "option '--until': nothing is before the beginning of the run; give more than 0");
    request->since_ns = request->since_ns == PT_TIME_NOT_GIVEN ? 0 : request->since_ns;
    request->until_ns = request->until_ns == PT_TIME_NOT_GIVEN ? 0 : request->until_ns;
    if (request->until_ns && request->from_ns > request->until_ns)
        return pt_fail_code(err, 2, "--from is later than --until: nothing lies between them");
    if (request->since_ns && (request->from_ns || request->until_ns))
        return pt_fail_code(err, 2, "--since looks back from the end: leave out --from and --until");
    if (request->pid != ALL_PIDS && (!request->pid || request->pid > INT32_MAX))
        return pt_fail_code(err, 2, "--pid %llu: no process has this number", (unsigned long long)request->pid);
    return check_format(request, exporter, err);
}

/* `path` = the run; NULL = the latest. */
static int export_run(struct request *request, const struct pt_exporter *exporter, const char *path,
                      struct pt_error *err)
{
    PT_AUTO(pt_run_close) struct pt_run run = {0};
    /* Of whole stages something is known, too, where nothing was traced: whether they failed, and why. */
    if (pt_run_open(path, &run, err) < 0 || (!run.session && !exporter->has_figures))
        return -1;
    struct pt_session *session = pt_run_session(&run);
    if (request->since_ns && pt_run_end_ns(&run) > request->since_ns)
        request->from_ns = pt_run_end_ns(&run) - request->since_ns;
    struct pt_out_place place = pt_place_of_user(request->output);
    if (request->output)
        return write_output(session, exporter, request, &place, err);
    PT_AUTO(pt_freep) char *name = pt_asprintf("%s%s", request->off_cpu ? "off-" : "", exporter->file_name);
    PT_AUTO(pt_str_fini) struct pt_str shown = {0};
    if (place_in_run(session, name, &shown, &place, err) < 0)
        return -1;
    const int result = write_output(session, exporter, request, &place, err);
    close(place.folder_fd);
    return result;
}

int pt_export_timeline(const char *path, bool is_silent, struct pt_error *err)
{
    struct request request = {.format = "chrome", .max_bytes = SIZE_OF_FORMAT, .pid = ALL_PIDS, .is_silent = is_silent};
    return export_run(&request, pt_exporter_find(request.format), path, err);
}

int pt_cmd_export(int argc, char **argv, struct pt_error *err)
{
    struct request request = {
        .max_bytes = SIZE_OF_FORMAT, .pid = ALL_PIDS, .since_ns = PT_TIME_NOT_GIVEN, .until_ns = PT_TIME_NOT_GIVEN};
    const struct pt_opt table[] = {
        PT_OPT_TEXT("to", 't', &request.format, "FORMAT", format_list),
        PT_OPT_TEXT("output", 'o', &request.output, "FILE",
                    "write here; gzip'ed where it ends in .gz; - is stdout; of several files, the folder"),
        PT_OPT_DURATION("from", 0, &request.from_ns, "T", "leave out what ended before this time of the run"),
        PT_OPT_DURATION("until", 0, &request.until_ns, "T", "leave out what began after this time of the run"),
        PT_OPT_DURATION("since", 0, &request.since_ns, "D",
                        "only the last so long of it, as 10m: up to now, or its end"),
        PT_OPT_COUNT("pid", 'p', &request.pid, "PID", "this process only"),
        PT_OPT_TEXT("stage", 0, &request.stage, "NAME", "this stage only"),
        PT_OPT_DURATION("min-dur", 0, &request.min_duration_ns, "D", "leave out shorter calls"),
        PT_OPT_SIZE("max-size", 0, &request.max_bytes, "BYTES",
                    "refuse to write more (before compression; default: what viewers hold)"),
        PT_OPT_FLAG("off-cpu", 0, &request.off_cpu, off_cpu_doc),
        PT_OPT_FLAG("force", 0, &request.force, "write any size"),
        PT_OPT_FLAG("json", 0, &request.json, "print what was written as JSON"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    const struct pt_exporter *exporter = request.format ? pt_exporter_find(request.format) : NULL;
    if (check(&request, exporter, err) < 0)
        return -1;
    return export_run(&request, exporter, args.n ? args.values[0] : NULL, err);
}
