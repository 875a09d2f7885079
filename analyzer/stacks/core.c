/* SPDX-License-Identifier: MIT
 *
 * stacks/core.c - Owns: core dumps, read by elfutils. Threads: main only. State: none. Never: runs or changes what a
 * dump names; believes a length in it without elfutils having checked it.
 */
#include "core.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/str.h"
#include "util/text/posix_names.h"
#include "places.h"

enum { THREADS_MOST = 100000, FRAMES_MOST = 512 };

/* ---- what its notes say ---- */

struct notes {
    prpsinfo_t process;
    siginfo_t signal;
    bool has_process, has_signal;
    char run[4096]; /* the folder of the trace file that it had mapped; "" = it had none */
};

/* NT_FILE: how many, a page's size, three numbers for each, then the names. */
static void read_files(struct notes *notes, const char *body, size_t bytes)
{
    enum { HEAD = 2, PER_FILE = 3 };
    pt_u64 n_files;
    if (bytes < HEAD * sizeof n_files)
        return;
    memcpy(&n_files, body, sizeof n_files);
    if (n_files > (bytes / sizeof n_files - HEAD) / PER_FILE)
        return;
    const char *name = body + (HEAD + PER_FILE * n_files) * sizeof n_files, *end = body + bytes;
    for (pt_u64 i = 0; i < n_files && name < end; i++) {
        const size_t n = strnlen(name, (size_t)(end - name));
        const bool is_whole = n < (size_t)(end - name);
        const char *slash = is_whole && pt_look_is_trace_file(name) ? strrchr(name, '/') : NULL;
        if (slash && slash > name && (size_t)(slash - name) < sizeof notes->run)
            snprintf(notes->run, sizeof notes->run, "%.*s", (int)(slash - name), name);
        name += n + 1;
    }
}

static void read_note(struct notes *notes, const GElf_Nhdr *note, const char *body)
{
    if (note->n_type == NT_PRPSINFO && note->n_descsz >= sizeof notes->process && !notes->has_process) {
        memcpy(&notes->process, body, sizeof notes->process);
        notes->has_process = true;
    }
    if (note->n_type == NT_FILE)
        read_files(notes, body, note->n_descsz);
    if (note->n_type == NT_SIGINFO && note->n_descsz >= sizeof notes->signal && !notes->has_signal) {
        memcpy(&notes->signal, body, sizeof notes->signal);
        notes->has_signal = true;
    }
}

static void read_notes(Elf *elf, struct notes *ret_notes)
{
    size_t n = 0;
    *ret_notes = (struct notes){0};
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_NOTE)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_NHDR);
        GElf_Nhdr note;
        size_t name, body;
        for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &body));)
            read_note(ret_notes, &note, (const char *)data->d_buf + body);
    }
}

/* The kernel makes no dump for these: gcore does, of a process that it has stopped. */
static bool is_stop(int number)
{
    return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static const char *how_it_died(struct pt_look *look, const struct notes *notes)
{
    const int number = notes->signal.si_signo;
    const char *name = notes->has_signal ? pt_signal_name(number) : NULL;
    if (!notes->has_signal || number <= 0)
        return "was its first thread: the dump does not say why it was made";
    if (is_stop(number))
        return "was its first thread: the dump is of a process that lived (gcore)";
    const char *text =
        name ? pt_look_text(look, "died by SIG%s", name) : pt_look_text(look, "died by signal %d", number);
    if (number == SIGSEGV || number == SIGBUS)
        return pt_look_text(look, "%s at address 0x%llx", text, (unsigned long long)(uintptr_t)notes->signal.si_addr);
    if (notes->signal.si_code <= 0 && notes->signal.si_pid > 0)
        return pt_look_text(look, "%s, sent by process %d", text, (int)notes->signal.si_pid);
    return text;
}

/* ---- stacks ---- */

struct reading {
    struct pt_look *look;
    struct pt_look_thread *thread;
    const struct notes *notes;
    size_t n_frames;
};

static void add_lines(struct reading *reading, Dwfl_Module *module, Dwarf_Addr pc)
{
    struct pt_look *look = reading->look;
    const char *file = NULL;
    const unsigned char *build_id = NULL;
    GElf_Addr at = 0;
    Dwarf_Addr bias = 0;
    pt_u32 n = 0;
    const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
    const int id_bytes = dwfl_module_build_id(module, &build_id, &at);
    if (!dwfl_module_getelf(module, &bias))
        bias = 0;
    const char *path = file ? file : name ? name : "";
    const struct pt_frame *frames =
        pt_symbolize_file(look->symbols, path, build_id, id_bytes > 0 ? (pt_u32)id_bytes : 0, pc - bias, &n);
    for (pt_u32 i = 0; i < n; i++) {
        const struct pt_stack_line line = {.function = frames[i].function,
                                           .file = frames[i].file,
                                           .module = pt_look_text(look, "%s", path),
                                           .line = frames[i].line};
        pt_vec_push(&reading->thread->lines, line);
    }
}

static int on_frame(Dwfl_Frame *frame, void *context)
{
    struct reading *reading = context;
    Dwarf_Addr pc;
    bool is_activation;
    if (reading->n_frames++ >= FRAMES_MOST || !dwfl_frame_pc(frame, &pc, &is_activation))
        return DWARF_CB_ABORT;
    pc -= is_activation ? 0 : 1;
    Dwfl_Module *module = dwfl_addrmodule(dwfl_thread_dwfl(dwfl_frame_thread(frame)), pc);
    const struct pt_stack_line unknown = {0};
    if (module)
        add_lines(reading, module, pc);
    else
        pt_vec_push(&reading->thread->lines, unknown);
    return DWARF_CB_OK;
}

static int on_thread(Dwfl_Thread *dwfl_thread, void *context)
{
    struct reading *reading = context;
    struct pt_look_process *process = reading->look->processes.items[0];
    const bool is_first = process->threads.n == 0;
    if (process->threads.n >= THREADS_MOST)
        return DWARF_CB_ABORT;
    struct pt_look_thread *thread = pt_calloc(1, sizeof *thread);
    *thread = (struct pt_look_thread){.process = process,
                                      .tid = (pt_u32)dwfl_thread_tid(dwfl_thread),
                                      .state = 'X',
                                      .call = -1,
                                      .since_ns = PT_UNKNOWN_NS,
                                      .does = is_first ? how_it_died(reading->look, reading->notes) : "was here"};
    snprintf(thread->name, sizeof thread->name, "%.*s", (int)sizeof reading->notes->process.pr_fname,
             reading->notes->process.pr_fname);
    pt_vec_push(&process->threads, thread);
    *pt_map_at(&reading->look->by_tid, thread->tid) = (uintptr_t)thread;
    reading->thread = thread;
    reading->n_frames = 0;
    if (dwfl_thread_getframes(dwfl_thread, on_frame, reading) < 0 && thread->lines.n < 2)
        thread->why_cut = pt_look_text(reading->look, "%s", dwfl_errmsg(-1));
    return DWARF_CB_OK;
}

/* ---- the file ---- */

struct core {
    int fd;
    Elf *elf;
    Dwfl *dwfl;
};

static void close_core(struct core *core)
{
    if (core->dwfl)
        dwfl_end(core->dwfl);
    if (core->elf)
        elf_end(core->elf);
    pt_closep(&core->fd);
}

static int refuse(const char *path, const char *why, struct pt_error *err)
{
    return pt_fail_code(err, 3, "'%s' cannot be read as a core dump: %s", path,
                        why ? why : "it is damaged, or cut off");
}

static const char *why_no_core(Elf *elf)
{
    GElf_Ehdr head;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head))
        return "it is no ELF file; where systemd keeps dumps, `coredumpctl dump PID -o FILE` unpacks one";
    if (head.e_type != ET_CORE)
        return "it is a program or a library, not its dump";
    return head.e_machine == EM_X86_64 ? NULL : "it is from another kind of processor";
}

static int open_core(struct core *core, const char *path, struct pt_error *err)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (core->fd < 0)
        return refuse(path, strerror(errno), err);
    elf_version(EV_CURRENT);
    core->elf = elf_begin(core->fd, ELF_C_READ_MMAP, NULL);
    const char *why = why_no_core(core->elf);
    if (why)
        return refuse(path, why, err);
    core->dwfl = dwfl_begin(&callbacks);
    if (!core->dwfl || dwfl_core_file_report(core->dwfl, core->elf, NULL) < 0 ||
        dwfl_report_end(core->dwfl, NULL, NULL) < 0 || dwfl_core_file_attach(core->dwfl, core->elf) < 0)
        return refuse(path, dwfl_errmsg(-1), err);
    return 0;
}

static void conclude(struct pt_look *look)
{
    const struct pt_look_thread *thread = look->processes.items[0]->threads.items[0];
    const struct pt_stack_line *place = pt_stack_place(thread);
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_printf(&text, "thread %u %s", thread->tid, thread->does);
    if (place) {
        pt_str_add(&text, " in ");
        pt_stack_put_place(&text, place);
    }
    pt_vec_push(&look->conclusions, pt_look_text(look, "%s", pt_str_text(&text)));
    look->n_causes = look->conclusions.n;
}

int pt_look_open_core(struct pt_look *look, const char *path, struct pt_error *err)
{
    PT_AUTO(close_core) struct core core = {.fd = -1};
    struct notes notes;
    if (open_core(&core, path, err) < 0)
        return -1;
    read_notes(core.elf, &notes);
    struct pt_look_process *process = pt_calloc(1, sizeof *process);
    *process = (struct pt_look_process){.pid = (pt_u32)dwfl_pid(core.dwfl), .state = 'X', .run_fd = -1};
    process->command = notes.has_process
                           ? pt_look_text(look, "%.*s", (int)sizeof notes.process.pr_psargs, notes.process.pr_psargs)
                           : "?";
    process->run = *notes.run ? pt_look_text(look, "%s", notes.run) : NULL;
    pt_vec_push(&look->processes, process);
    look->symbols = pt_symbols_open(NULL);
    struct reading reading = {.look = look, .notes = &notes};
    if (dwfl_getthreads(core.dwfl, on_thread, &reading) < 0 && !process->threads.n)
        return refuse(path, dwfl_errmsg(-1), err);
    if (!process->threads.n)
        return refuse(path, "it has no threads", err);
    conclude(look);
    return 0;
}
