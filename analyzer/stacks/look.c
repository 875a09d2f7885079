/* SPDX-License-Identifier: MIT
 *
 * stacks/look.c - Owns: which processes and threads there are, and their stacks. Threads: main only. Never: stops a
 * process for more than 50 ms.
 */
#include "look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "proftrace/format.h"
#include "proftrace/limits.h"
#include "cpu_file/interpreter.h"
#include "cpu_profile/python/merge.h"
#include "cpu_profile/unwind.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/process_stat.h"
#include "util/runs_root.h"
#include "util/small_file.h"
#include "util/text/path.h"
#include "util/text/posix_names.h"
#include "channel_ends.h"
#include "faults.h"
#include "outside.h"
#include "registers.h"
#include "unreadable.h"
#include "waits.h"

enum { PROCESSES_MOST = 4096, TRIES = 3 };
/* Of a process; then no further thread of it is stopped. On a busy machine each waits for a CPU until it stops. */
#define STOPPED_MOST_NS 25000000
#define STOP_WAIT_MOST_NS 500000000

/* ---- processes ---- */

static const char *command_of(struct pt_look *look, pt_u32 pid, const char *name)
{
    char text[1024];
    const ssize_t n = pt_small_file_peek(text, sizeof text, "/proc/%u/cmdline", pid);
    for (ssize_t i = 0; i + 1 < n; i++)
        if (!text[i])
            text[i] = ' ';
    return pt_look_text(look, "%s", n > 0 ? text : name);
}

static void map_line(struct pt_look *look, struct pt_look_process *process, char *line)
{
    unsigned long long start, end, offset, inode;
    char rights[8];
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %n", &start, &end, rights, &offset, &inode, &at) != 5 || !at)
        return;
    const char *path = line + at;
    if (!process->run && path[0] == '/' && pt_look_is_trace_file(path)) {
        process->run = pt_look_text(look, "%.*s", (int)(strrchr(path, '/') - path), path);
        process->run_fd = open(process->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (offset == 0 && path[0] == '/' && pt_is_interpreter(path)) {
        const struct pt_look_interpreter interpreter = {pt_look_text(look, "%s", path), start, inode};
        pt_vec_push(&process->interpreters, interpreter);
    }
    if (rights[2] != 'x')
        return;
    process->is_python |= pt_is_interpreter(path);
    const struct pt_mapping mapping = {start, end, offset, pt_code_module_of(&look->modules, path, inode)};
    pt_image_map(&process->image, &mapping);
}

static void read_maps(struct pt_look *look, struct pt_look_process *process)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%u/maps", process->seen_by), *line = NULL;
    PT_AUTO(pt_fclosep) FILE *maps = fopen(path, "re");
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0)
        map_line(look, process, line);
}

/* In its own namespace. */
static pt_u32 inner_tid(pt_u32 pid, pt_u32 tid)
{
    char text[4096];
    pt_u32 inner = tid;
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/status", pid, tid) > 0)
        pt_inner_pid(text, &inner);
    return inner;
}

static void list_threads(struct pt_look *look, struct pt_look_process *process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", process->pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        struct pt_process_stat stat;
        const pt_u32 tid = (pt_u32)strtoul(entry->d_name, NULL, 10);
        if (!tid || !pt_process_stat_of_thread((pid_t)process->pid, (pid_t)tid, &stat))
            continue;
        struct pt_look_thread *thread = pt_calloc(1, sizeof *thread);
        *thread = (struct pt_look_thread){.process = process,
                                          .tid = tid,
                                          .inner_tid = tid,
                                          .state = stat.state,
                                          .call = -1,
                                          .since_ns = PT_UNKNOWN_NS};
        if (process->has_namespace)
            thread->inner_tid = inner_tid(process->pid, tid);
        memcpy(thread->name, stat.name, sizeof thread->name);
        pt_vec_push(&process->threads, thread);
        *pt_map_at(&look->by_tid, tid) = (uintptr_t)thread;
    }
    if (directory)
        closedir(directory);
}

static void read_more(struct pt_look_process *process)
{
    char text[4096];
    uint64_t tracer;
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/status", process->pid) <= 0)
        return;
    if (pt_small_file_number(text, "TracerPid:", &tracer))
        process->traced_by = (pt_u32)tracer;
    const char *caught = strstr(text, "\nSigCgt:");
    if (caught)
        process->caught_signals = strtoull(caught + 8, NULL, 16);
    process->has_namespace = inner_tid(process->pid, process->pid) != process->pid;
}

static bool add(struct pt_look *look, pt_u32 pid)
{
    struct pt_process_stat stat;
    if (look->processes.n >= PROCESSES_MOST || pt_look_find_process(look, pid) ||
        !pt_process_stat_of((pid_t)pid, &stat))
        return false;
    struct pt_look_process *process = pt_calloc(1, sizeof *process);
    *process = (struct pt_look_process){
        .pid = pid, .ppid = (pt_u32)stat.ppid, .session = (pt_u32)stat.session, .state = stat.state, .run_fd = -1};
    process->seen_by = pt_living_thread(pid);
    process->command = command_of(look, process->seen_by, stat.name);
    read_more(process);
    pt_vec_push(&look->processes, process);
    *pt_map_at(&look->by_pid, pid) = (uintptr_t)process;
    pt_faults_begin(process);
    pt_unreadable(look, process, stat.exit_code);
    if (process->why_not)
        return true;
    read_maps(look, process);
    pt_pythons_open(&process->pythons, process->run_fd);
    list_threads(look, process);
    if (process->is_python && (process->run_fd < 0 || !pt_pythons_process(&process->pythons, pid, pt_monotonic_ns())))
        pt_outside_find_python(look, process);
    return true;
}

/* All threads of it may have forked. One read gives no more than a page, which is some five hundred children. */
static void add_children(struct pt_look *look, const struct pt_look_process *parent)
{
    enum { MOST_BYTES = 1 << 20 };
    for (size_t i = 0; i < parent->threads.n; i++) {
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        PT_AUTO(pt_closep)
        int fd = pt_small_file_open("/proc/%u/task/%u/children", parent->pid, parent->threads.items[i]->tid);
        if (fd < 0 || (pt_fd_read_all(fd, MOST_BYTES, &text) < 0 && errno != EFBIG))
            continue;
        char *at = (char *)(size_t)pt_str_text(&text), *end;
        for (pt_u32 pid; (pid = (pt_u32)strtoul(at, &end, 10)) && end != at; at = end)
            add(look, pid);
    }
}

/* ---- stacks ---- */

struct reading {
    struct pt_look *look;
    struct pt_look_thread *thread;
    struct pt_registers registers;
    const struct pt_python_stack *python;
};

static void read_python(void *context)
{
    struct reading *reading = context;
    struct pt_look_process *process = reading->thread->process;
    reading->python =
        process->is_python ? pt_pythons_stack_now(&process->pythons, process->pid, reading->thread->inner_tid) : NULL;
}

static void add_python_line(struct reading *reading, pt_u32 number)
{
    const struct pt_map *numbers = &reading->thread->process->pythons.names.numbers;
    if (!number || number > numbers->n)
        return;
    const char *text = (const char *)(uintptr_t)numbers->entries[number - 1].key;
    struct pt_stack_line line = {.is_python = true};
    int at = 0;
    if (sscanf(text, "%9u:%*9u:%n", &line.line, &at) != 1 || !at)
        at = 0;
    const char *end = strchr(text + at, ':');
    line.function = end && at ? pt_look_text(reading->look, "%.*s", (int)(end - text - at), text + at)
                              : pt_look_text(reading->look, "%s", text);
    line.file = end && at ? pt_look_text(reading->look, "%s", end + 1) : NULL;
    pt_vec_push(&reading->thread->lines, line);
}

static bool is_own(const char *module)
{
    return !strcmp(pt_base_name(module), PT_LIBRARY_NAME);
}

static void add_native_lines(struct reading *reading, const struct pt_code_place *place)
{
    struct pt_look *look = reading->look;
    struct pt_stack_line line = {0};
    if (place->module < PT_CPU_MODULE__FIRST || place->module - PT_CPU_MODULE__FIRST >= look->modules.used.n) {
        pt_vec_push(&reading->thread->lines, line);
        return;
    }
    const struct pt_code_module *module = look->modules.used.items[place->module - PT_CPU_MODULE__FIRST];
    pt_u32 n;
    if (is_own(module->path)) /* our hook around a call of the program */
        return;
    const struct pt_frame *frames = pt_symbolize_file(look->symbols, module->file ? module->file : "", module->build_id,
                                                      module->build_id_bytes, place->address, &n);
    for (pt_u32 i = 0; i < n; i++) {
        line = (struct pt_stack_line){frames[i].function, frames[i].file, module->path, frames[i].line, false};
        pt_vec_push(&reading->thread->lines, line);
    }
}

static void unwind(struct reading *reading, struct pt_unwound *ret_stack)
{
    const struct pt_registers *registers = &reading->registers;
    const struct pt_look_process *process = reading->thread->process;
    const struct pt_perf_sample sample = {registers->values[PT_REG_RIP], registers->values, registers->stack,
                                          registers->n_stack};
    pt_unwind(&reading->look->modules, &process->image, process->seen_by, &sample, ret_stack);
}

static bool read_waiting(struct reading *reading, struct pt_unwound *ret_stack)
{
    for (int i = 0; i < TRIES; i++) {
        if (!pt_registers_of_waiting(reading->thread, &reading->registers))
            return false;
        read_python(reading);
        if (!pt_registers_still_there(reading->thread, &reading->registers))
            continue;
        unwind(reading, ret_stack);
        return true;
    }
    return false;
}

static const char *why_unread(const struct pt_look *look, const struct pt_look_thread *thread, int problem)
{
    if (!look->may_stop)
        return "its registers can be read only while it is stopped, and --no-stop was given";
    if (problem == EBUSY)
        return "a debugger has it: read the stack there";
    if (thread->state == 'D')
        return "it waits in the kernel, where it cannot be stopped to read its registers";
    if (pt_is_disturbed_by_stops(thread))
        return "its system call would end early if it were stopped to read its registers";
    return "it did not stop in time";
}

/* Whether its stack is as whole as it can be without a stop, or a stop would do harm. */
static bool may_stop(const struct reading *reading, const struct pt_unwound *found)
{
    const struct pt_look_thread *thread = reading->thread;
    return found->is_cut && reading->look->may_stop && thread->state != 'T' && thread->state != 'D' &&
           thread->process->stopped_ns < STOPPED_MOST_NS && thread->process->stop_wait_ns < STOP_WAIT_MOST_NS &&
           !pt_is_disturbed_by_stops(thread);
}

static void add_lines(struct reading *reading, const struct pt_unwound *found)
{
    for (pt_u32 i = 0; i < found->n; i++)
        if (found->frames[i].module == PT_CPU_MODULE_PYTHON)
            add_python_line(reading, (pt_u32)found->frames[i].address);
        else
            add_native_lines(reading, &found->frames[i]);
}

/* By its name, which it has also where static functions have none: extensions link to it. */
static bool is_loop(struct pt_look *look, const struct pt_code_place *place)
{
    static const char name[] = "_PyEval_EvalFrameDefault";
    pt_u32 n = 0;
    if (place->module < PT_CPU_MODULE__FIRST || place->module - PT_CPU_MODULE__FIRST >= look->modules.used.n)
        return false;
    const struct pt_code_module *module = look->modules.used.items[place->module - PT_CPU_MODULE__FIRST];
    if (!pt_is_interpreter(module->path))
        return false;
    const struct pt_frame *frames = pt_symbolize_file(look->symbols, module->file ? module->file : "", module->build_id,
                                                      module->build_id_bytes, place->address, &n);
    const char *function = n ? frames[n - 1].function : NULL;
    return function && !strncmp(function, name, sizeof name - 1);
}

static void merge(const struct reading *reading, struct pt_unwound *found)
{
    bool are_loops[PT_CPU_DEPTH_MAX];
    for (pt_u32 i = 0; i < found->n; i++)
        are_loops[i] = is_loop(reading->look, &found->frames[i]);
    if (!pt_python_merge_all(&reading->look->modules, reading->python, are_loops, found))
        pt_python_merge(&reading->look->modules, reading->python, found);
}

static void read_thread(struct pt_look *look, struct pt_look_thread *thread, pt_u8 *stack)
{
    struct reading reading = {.look = look, .thread = thread, .registers = {.stack = stack}};
    struct pt_unwound found = {.is_cut = true};
    int problem = 0;
    if (thread->state == 'Z' || thread->state == 'X')
        return;
    bool is_read = read_waiting(&reading, &found);
    if (may_stop(&reading, &found)) {
        struct pt_stop_times times = {0};
        const bool was_read = pt_registers_of_stopped(thread, &reading.registers, read_python, &reading, &times);
        problem = errno;
        if (was_read)
            unwind(&reading, &found);
        is_read |= was_read;
        thread->process->stopped_ns += times.stopped_ns;
        thread->process->stop_wait_ns += times.waited_ns;
    }
    if (is_read && reading.python)
        merge(&reading, &found);
    if (is_read)
        add_lines(&reading, &found);
    if (found.is_cut)
        thread->why_cut =
            thread->was_stopped && is_read ? "its callers were not found" : why_unread(look, thread, problem);
}

static void read_all(struct pt_look *look)
{
    for (size_t i = 0; i < look->processes.n; i++)
        add_children(look, look->processes.items[i]);
    look->symbols = pt_symbols_open(NULL);
    PT_AUTO(pt_freep) pt_u8 *stack = pt_malloc(PT_STACK_BYTES);
    for (size_t i = 0; i < look->processes.n; i++)
        for (size_t j = 0; j < look->processes.items[i]->threads.n; j++)
            read_thread(look, look->processes.items[i]->threads.items[j], stack);
    pt_faults_look(look);
    pt_look_waits(look);
}

int pt_look_open(struct pt_look *look, pt_u32 pid, bool may_stop, struct pt_error *err)
{
    look->may_stop = may_stop;
    if (!add(look, pid))
        return pt_unseen(pid, err);
    const struct pt_look_process *first = look->processes.items[0];
    if (first->why_not)
        return pt_fail_code(err, 3, "process %u: %s", pid, first->why_not);
    read_all(look);
    return 0;
}

/* A process has its trace file mapped as long as it lives. */
static bool records_into(pt_u32 pid, const char *run)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%u/maps", pid), *line = NULL;
    PT_AUTO(pt_fclosep) FILE *maps = fopen(path, "re");
    const size_t n = strlen(run);
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        const char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = 0;
        if (name && !strncmp(name, run, n) && name[n] == '/' && !strchr(name + n + 1, '/') &&
            pt_look_is_trace_file(name))
            return true;
    }
    return false;
}

int pt_look_open_run(struct pt_look *look, const char *run, bool may_stop, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *named = pt_run_path(run);
    PT_AUTO(pt_freep) char *path = realpath(named, NULL);
    DIR *directory = path ? opendir("/proc") : NULL;
    const struct dirent *entry;
    if (!path)
        return pt_fail_code(err, 3, "'%s' is neither a process id nor a run: %s", run, strerror(errno));
    look->may_stop = may_stop;
    while (directory && (entry = readdir(directory))) {
        const pt_u32 pid = (pt_u32)strtoul(entry->d_name, NULL, 10);
        if (pid && records_into(pt_living_thread(pid), path))
            add(look, pid);
    }
    if (directory)
        closedir(directory);
    if (!look->processes.n)
        return pt_fail_code(
            err, 3, "no process that may be read records into '%s' now; `proftrace report` shows a run that has ended",
            run);
    read_all(look);
    return 0;
}

static void free_process(struct pt_look_process *process)
{
    for (size_t i = 0; i < process->threads.n; i++) {
        free(process->threads.items[i]->lines.items);
        free(process->threads.items[i]->waits_for.items);
        free(process->threads.items[i]->waits_for_processes.items);
        free(process->threads.items[i]);
    }
    if (!process->why_not)
        pt_pythons_close(&process->pythons);
    pt_closep(&process->run_fd);
    free(process->threads.items);
    free(process->interpreters.items);
    free(process->image.items);
    free(process);
}

void pt_look_close(struct pt_look *look)
{
    for (size_t i = 0; i < look->processes.n; i++)
        free_process(look->processes.items[i]);
    free(look->processes.items);
    free(look->conclusions.items);
    pt_map_fini(&look->by_tid);
    pt_map_fini(&look->by_pid);
    pt_channel_ends_close(look->channel_ends);
    pt_code_modules_fini(&look->modules);
    if (look->symbols)
        pt_symbols_close(look->symbols);
    pt_arena_fini(&look->texts);
}
