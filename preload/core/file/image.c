/* SPDX-License-Identifier: MIT
 *
 * image.c - makes this process image's trace file and keeps its header fresh.
 *
 * Entered by the constructor, and by the first event of a forked child (signals blocked, one thread). The file is
 * opened, allocated, mapped and closed here; no descriptor stays.
 */
#include "image.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "proftrace/redact.h"
#include "core/kill_point.h"
#include "core/options.h"
#include "core/rank.h"
#include "core/session.h"
#include "core/session_page.h"
#include "core/start_memory.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"
#include "area.h"
#include "image_state.h"
#include "own_file.h"
#include "presence.h"
#include "small_file.h"

#define REFRESH_TICKS (1ull << 25) /* about 10 ms */

/* Kept across fork (not wiped): who we were. */
static pt_u64 last_trace_id;
int pt_is_elsewhere;
static char **first_argv;
static struct pt_python_header python;
static int first_argc;

void pt_image_set_arguments(int argc, char **argv)
{
    first_argc = argc;
    first_argv = argv;
}

void pt_image_set_python(const struct pt_python_header *now)
{
    python = *now;
    if (!pt_image || __atomic_load_n(&pt_image->state, __ATOMIC_ACQUIRE) != PT_IMAGE_LIVE)
        return;
    struct pt_python_header *shown = &pt_image->header->python;
    __atomic_store_n(&shown->state, PT_PYTHON_NONE, __ATOMIC_RELEASE);
    *shown = *now;
    __atomic_store_n(&shown->state, now->state, __ATOMIC_RELEASE);
}

int pt_image_reserve(void)
{
    /* Without it a forked child would write into its parent's file: do not record at all. */
    pt_image = pt_sys_wiped(pt_start_memory(sizeof *pt_image), sizeof *pt_image);
    if (!pt_image)
        return -1;
    pt_image->pid = (pt_u32)pt_syscall0(SYS_getpid); /* written before it is read: one page fault, not two */
    pt_image->start = PT_START_OVER;                 /* the constructor reserves it */
    return 0;
}

/* Both clocks at one instant: the reading whose two counter reads lie closest together, of three. */
static struct pt_clock_pair read_clock_pair(void)
{
    struct pt_clock_pair best = {0};
    pt_u64 least = ~0ull;
    for (int i = 0; i < 3; i++) {
        const pt_u64 before = pt_clock(), ns = pt_sys_clock_ns(CLOCK_MONOTONIC), after = pt_clock();
        if (after - before < least) {
            least = after - before;
            best = (struct pt_clock_pair){before + (after - before) / 2, ns};
        }
    }
    return best;
}

void pt_image_refresh(void)
{
    struct pt_file_header *header = pt_image->header;
    const pt_u64 now = pt_clock();
    if (pt_switches.frozen || now - pt_image->last_refresh < REFRESH_TICKS)
        return;
    if (__atomic_exchange_n(&pt_image->refreshing, 1, __ATOMIC_ACQUIRE))
        return; /* two at once would mix their clock pairs */
    pt_image->last_refresh = now;
    const pt_u64 next = header->clock_index + 1;
    header->clock_last[next & 1] = read_clock_pair();
    __atomic_store_n(&header->clock_index, next, __ATOMIC_RELEASE);
    struct rusage usage;
    if (pt_syscall2(SYS_getrusage, RUSAGE_SELF, &usage) == 0) {
        header->cpu_ns = (pt_u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                         (pt_u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
        /* The kernel keeps the peak across exec: until the program outgrows what its parent's copy was, it is unknown.
         */
        if ((pt_u64)usage.ru_maxrss > pt_image->inherited_rss_kib)
            header->max_rss_bytes = (pt_u64)usage.ru_maxrss * 1024;
        header->min_faults = (pt_u64)usage.ru_minflt;
        header->maj_faults = (pt_u64)usage.ru_majflt;
    }
    __atomic_store_n(&pt_image->refreshing, 0, __ATOMIC_RELEASE);
}

/* ---- the text page ---- */

static void add_string(struct pt_text *text, const char *string)
{
    pt_text_add(text, string);
    if (text->length < text->room)
        text->bytes[text->length++] = 0;
}

static void add_link(struct pt_text *text, const char *link)
{
    const long length = pt_syscall3(SYS_readlink, link, text->bytes + text->length, 1000);
    if (length > 0)
        text->length += (pt_u64)length;
    text->bytes[text->length++] = 0;
}

static void add_working_directory(struct pt_text *text)
{
    const long length = pt_syscall2(SYS_getcwd, text->bytes + text->length, 1000); /* counts the terminator */
    if (length > 0)
        text->length += (pt_u64)length;
    else
        text->bytes[text->length++] = 0;
}

static const char *last_item(enum pt_text_item item)
{
    const char *from = pt_kept_text.bytes;
    for (int skipped = 0; skipped < (int)item; skipped++)
        from += pt_text_length(from) + 1;
    return from;
}

/* The argument strings of the previous image state: argv itself may have been overwritten since (setproctitle). */
static void copy_arguments(struct pt_text *text)
{
    const char *from = last_item(PT_TEXT_ARGC);
    pt_u64 bytes = (pt_u64)(pt_kept_text.bytes + pt_kept_text.length - from);
    const pt_u64 room = text->room - text->length;
    bytes = bytes < room ? bytes : room;
    __builtin_memcpy(text->bytes + text->length, from, bytes);
    text->length += bytes;
    text->bytes[text->length - 1] = 0;
}

static void add_arguments(struct pt_text *text)
{
    char count[16];
    struct pt_text number = {count, 0, sizeof count};
    pt_text_number(&number, (pt_u64)(first_argc > 0 ? first_argc : 0), 0);
    add_string(text, count);
    struct pt_redact_line line = {0};
    for (int i = 0; i < first_argc && first_argv[i]; i++) {
        const pt_u64 length = pt_text_length(first_argv[i]);
        if (text->length + length + 2 > text->room)
            return;
        struct pt_redact_out out = {text->bytes, text->length, text->room};
        pt_redact_argument(&out, first_argv[i], &line);
        text->length = out.length;
        text->bytes[text->length++] = 0;
    }
}

/* Does `path` name another file than the program: a descriptor (fexecve) or ld.so? */
static int is_indirect(const char *path)
{
    for (const char *at = path; *at; at++)
        if ((at[0] == '/' && at[1] == 'f' && at[2] == 'd' && at[3] == '/') || /* /proc/self/fd/3, /dev/fd/3 */
            (at[0] == 'l' && at[1] == 'd' && at[2] == '-'))                   /* ld.so */
            return 1;
    return 0;
}

/* A script comes back in argv, behind the interpreter. */
static int is_script(const char *path)
{
    for (int i = 1; i < 3 && i < first_argc && first_argv[i]; i++)
        if (pt_text_equal(first_argv[i], path))
            return 1;
    return 0;
}

/* The executable. Reading /proc costs 30 us at each process start, so it is read only where the kernel's AT_EXECFN
 * is no full path, or is indirect. */
static void add_executable(struct pt_text *text)
{
    enum { MOST_BYTES = 1000 }; /* as much as the other texts of the page leave */
    const char *name = (const char *)getauxval(AT_EXECFN);
    const int is_full_path = name && name[0] == '/' && pt_text_length(name) < MOST_BYTES;
    if (is_full_path && !is_script(name) && !is_indirect(name))
        add_string(text, name);
    else
        add_link(text, "/proc/self/exe");
}

/* What a forked child has of its parent is not asked for again: reading /proc costs 30 us. */
static void write_names(struct pt_text *text, int knows_parent)
{
    struct utsname names;
    char comm[16] = "";
    if (knows_parent)
        add_string(text, last_item(PT_TEXT_EXE));
    else
        add_executable(text);
    /* Names that a child has from its parent are relative to where the parent began. */
    if (knows_parent)
        add_string(text, last_item(PT_TEXT_CWD));
    else {
        add_working_directory(text);
        __atomic_store_n(&pt_is_elsewhere, 0, __ATOMIC_RELAXED);
    }
    /* What the program was started with lies in its environment, which it may have overwritten (Perl's $0 = ...): of a
     * parent whose text is gone it is unknown. */
    add_string(text, knows_parent ? last_item(PT_TEXT_STAGE) : pt_kept_text.bytes ? "" : pt_options.stage);
    if (knows_parent)
        add_string(text, last_item(PT_TEXT_HOST));
    else
        add_string(text, pt_syscall1(SYS_uname, &names) == 0 ? names.nodename : "");
    pt_syscall2(SYS_prctl, PR_GET_NAME, comm);
    add_string(text, comm);
}

/* In memory of ours, where it stays for forked children: reading the head would cost them a fault. */
static struct pt_text make_text(char *head)
{
    struct pt_text text = {pt_first_in_memory(head, pt_first_text_at()), 0, PT_TEXT_BYTES};
    /* not where the parent's file was truncated */
    const struct pt_kept_text *kept = &pt_kept_text;
    const int knows_parent = kept->bytes && (!kept->is_in_file || pt_is_mapped_and_there(kept->bytes, kept->length));
    write_names(&text, knows_parent);
    if (knows_parent)
        copy_arguments(&text);
    else if (!kept->bytes)
        add_arguments(&text);
    return text;
}

/* Into the head if it is short, as nearly all are. */
static int is_short(const struct pt_text *text)
{
    return text->length <= PT_FIRST_TEXT_MOST_BYTES;
}

static void place_text(struct pt_file_header *header, const struct pt_text *text)
{
    header->text_bytes = (pt_u32)text->length;
    header->text_offset = is_short(text) ? PT_HEADER_BYTES : (pt_u32)pt_first_text_at();
    if (is_short(text))
        __builtin_memcpy((char *)header + header->text_offset, text->bytes, text->length);
}

/* ---- the header ---- */

static void note_inherited_rss(void)
{
    struct rusage usage;
    const int is_fork_child = last_trace_id != 0;
    if (!is_fork_child && pt_syscall2(SYS_getrusage, RUSAGE_SELF, &usage) == 0)
        pt_image->inherited_rss_kib = (pt_u64)usage.ru_maxrss;
}

static void write_header(struct pt_file_header *header, pt_u64 trace_id)
{
    note_inherited_rss();
    header->format_version = PT_FORMAT_VERSION;
    header->header_bytes = PT_HEAD_AREA_AT;
    header->trace_id = trace_id;
    header->parent_trace_id = last_trace_id;
    header->pid = pt_image->pid;
    header->ppid = (pt_u32)pt_syscall0(SYS_getppid);
    header->uid = (pt_u32)pt_syscall0(SYS_getuid);
    header->state = PT_PROCESS_LIVE;
    header->tool_version = PROFTRACE_VERSION_MAJOR << 16 | PROFTRACE_VERSION_MINOR << 8 | PROFTRACE_VERSION_PATCH;
    __builtin_memcpy(header->boot_id, pt_session_facts.boot_id, sizeof header->boot_id);
    header->clock_source = pt_switches.tsc ? PT_CLOCK_TSC : PT_CLOCK_MONOTONIC;
    header->clock_shift = pt_switches.clock_shift;
    header->realtime_ns = pt_sys_clock_ns(CLOCK_REALTIME);
    header->clock_first = read_clock_pair();
    /* Seconds back: a span that began just before (the fork child's first call) must not lie before tick 0, even when
     * making the file took long. */
    header->clock_base = header->clock_first.counter - (header->clock_first.counter > 1ull << 34 ? 1ull << 34 : 0);
    header->file_bytes = PT_HEAD_BYTES;
    const pt_u64 limit = pt_options.ring_mib << 20;
    header->ring_limit_bytes = limit > 512u << 10 ? limit : 512u << 10;
    header->heap_sample_bytes = pt_options.heap_sample_bytes;
    header->heap_mode = pt_options.heap;
    header->minute_ns = pt_options.minutes_mib ? pt_options.minute_ms * 1000000u : 0;
    header->options =
        (pt_options.io ? PT_OPTION_IO : 0) | (pt_options.stdio ? PT_OPTION_STDIO : 0) |
        (pt_options.stacks ? PT_OPTION_STACKS : 0) | PT_OPTION_LAYERS | (pt_options.locks ? PT_OPTION_LOCKS : 0) |
        (pt_options.waits ? PT_OPTION_WAITS : 0) | (pt_options.net ? PT_OPTION_NET : 0) |
        (pt_session_clock_was_set(header->realtime_ns, header->clock_first.monotonic_ns) ? PT_OPTION_CLOCK_SET : 0) |
        (pt_switches.malloc == PT_MALLOC_OF_ANOTHER ? PT_OPTION_HEAP_HIDDEN : 0) |
        (pt_switches.malloc == PT_MALLOC_OF_PROGRAM ? PT_OPTION_HEAP_LINKED_IN : 0) |
        (pt_switches.malloc == PT_MALLOC_TOO_LATE ? PT_OPTION_HEAP_TOO_LATE : 0);
    header->rank_plus_1 = pt_rank.rank_plus_1;
    header->local_rank_plus_1 = pt_rank.local_rank_plus_1;
    header->world_size = pt_rank.world_size;
    header->python = python;
    __builtin_memcpy(header->ignored_options, pt_ignored_options, sizeof header->ignored_options);
}

/* ---- the file ---- */

static void name_file(pt_u64 trace_id)
{
    struct pt_text path = {pt_image->path, 0, sizeof pt_image->path};
    char comm[16] = "";
    pt_syscall2(SYS_prctl, PR_GET_NAME, comm);
    pt_text_add(&path, pt_session_path);
    pt_text_byte(&path, '/');
    pt_text_file_name(&path, comm, 15);
    pt_text_byte(&path, '-');
    pt_text_number(&path, pt_image->pid, 0);
    pt_text_byte(&path, '-');
    pt_text_hex(&path, trace_id, 8);
    pt_text_add(&path, PT_FILE_SUFFIX);
}

static pt_u64 new_trace_id(void)
{
    pt_u64 id = 0;
    if (pt_syscall3(SYS_getrandom, &id, sizeof id, GRND_NONBLOCK) != sizeof id)
        id = pt_clock() * 0x9e3779b97f4a7c15ull ^ pt_image->pid;
    return id ? id : 1;
}

static void keep_text(const struct pt_text *text)
{
    const int is_in_file = pt_has_own_file();
    pt_kept_text = (struct pt_kept_text){is_in_file ? pt_first_text() : text->bytes, text->length, is_in_file};
}

static long fill_head(struct pt_file_header *header, pt_u64 trace_id, const struct pt_text *text)
{
    pt_image->header = header;
    write_header(header, trace_id);
    place_text(header, text);
    pt_image->clock_base = header->clock_base;
    if (pt_image->is_small || pt_own_file_make_first() == 0)
        return 0;
    return header->growth_errno ? -(long)header->growth_errno : -ENOMEM;
}

/* The head has its place first and is written there: in a file, if there is room, else in memory of ours. */
static long make_head(pt_u64 trace_id)
{
    char *memory = pt_start_memory(pt_first_bytes());
    if (!memory)
        return -ENOMEM;
    char *head = memory + pt_first_low_bytes();
    const struct pt_text text = make_text(head);
    long error = is_short(&text) ? pt_small_file_append(head, trace_id) : -ENOSPC;
    pt_image->is_small = error == 0;
    if (error != -ENOMEM)
        error = fill_head((struct pt_file_header *)(void *)head, trace_id, &text);
    if (error == 0) {
        keep_text(&text);
        return 0;
    }
    pt_image->header = 0;
    pt_syscall2(SYS_munmap, memory, pt_first_bytes());
    return error;
}

static enum pt_refusal refusal_of(long error)
{
    return error == -EACCES || error == -EPERM || error == -EROFS || error == -ENOENT || error == -ENOTDIR
               ? PT_REFUSAL_rights
           : error == -EFBIG  ? PT_REFUSAL_file_limit
           : error == -ENOMEM ? PT_REFUSAL_memory
                              : PT_REFUSAL_space;
}

static long make_image(void)
{
    pt_image->pid = (pt_u32)pt_syscall0(SYS_getpid);
    const pt_u64 trace_id = new_trace_id();
    name_file(trace_id);
    const long error = make_head(trace_id);
    if (error < 0)
        return error;
    pt_session_count_process();
    pt_image->head_pool = (struct pt_area_pool){.base = (char *)pt_image->header, .count = 1};
    pt_image->n_pools = 1;
    last_trace_id = trace_id;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __builtin_memcpy(pt_image->header->magic, PT_FILE_MAGIC, 8); /* from here on it is a trace */
    return 0;
}

/* Pass-through from now on: without a file every call would come here again. But programs that it starts are still
 * looked after: in another root directory the loader would complain about our file that is not there. */
static void fail(struct pt_image *image, enum pt_refusal why)
{
    pt_session_refuse(why);
    pt_switches.off = 1;
    pt_switches.io = pt_switches.stdio = pt_switches.heap = pt_switches.user = pt_switches.locks = 0;
    pt_switches.net = pt_switches.waits = pt_switches.cuda = 0;
    __atomic_store_n(&image->state, PT_IMAGE_FAILED, __ATOMIC_RELEASE);
}

void pt_image_give_up(enum pt_refusal why)
{
    pt_u32 none = PT_IMAGE_NONE;
    if (__atomic_compare_exchange_n(&pt_image->state, &none, PT_IMAGE_MAKING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        fail(pt_image, why);
}

void pt_image_refuse(void)
{
    struct pt_image *image = pt_image;
    if (image && __atomic_load_n(&image->state, __ATOMIC_ACQUIRE) == PT_IMAGE_NONE &&
        !__atomic_exchange_n(&image->is_refused, 1, __ATOMIC_RELAXED))
        pt_session_refuse_in_sandbox();
}

struct pt_image *pt_image_live(void)
{
    struct pt_image *image = pt_image;
    const pt_u32 state = image ? __atomic_load_n(&image->state, __ATOMIC_ACQUIRE) : PT_IMAGE_FAILED;
    if (state == PT_IMAGE_LIVE)
        return image;
    pt_u32 none = PT_IMAGE_NONE;
    if (state != PT_IMAGE_NONE || pt_switches.frozen ||
        !__atomic_compare_exchange_n(&image->state, &none, PT_IMAGE_MAKING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    const long error = make_image();
    if (error < 0) {
        fail(image, refusal_of(error));
        return 0;
    }
    __atomic_store_n(&image->state, PT_IMAGE_LIVE, __ATOMIC_RELEASE);
    pt_kill_point("fork");
    return image;
}
