/* SPDX-License-Identifier: MIT
 *
 * init.c - the constructor: the only statement of the order in which things come up.
 *
 * Runs once per process image, before main, in one thread. Any trouble leaves the switches at zero: a pass-through.
 * There is no destructor: frees and writes come until the very end, and nothing needs to be done then.
 */
#include <cpuid.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/platform/x86.h>

#include "core/file/attach.h"
#include "core/file/area.h"
#include "core/file/checksum.h"
#include "core/file/image.h"
#include "core/file/image_state.h"
#include "core/file/space.h"
#include "core/names/fd_table.h"
#include "core/names/module.h"
#include "inherited_filter.h"
#include "injection.h"
#include "options.h"
#include "private.h"
#include "process.h"
#include "rank.h"
#include "real/next.h"
#include "real/real.h"
#include "sandbox.h"
#include "session.h"
#include "session_page.h"
#include "start_memory.h"
#include "sys.h"
#include "text.h"
#include "valgrind.h"

/* glibc has them; musl does not, and there we stay a pass-through. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

/* One tick is 32 TSC cycles, 8 to 14 ns: the low bits of a time are noise that does not compress. */
#define TSC_SHIFT 5
/* Without one the counter is in nanoseconds: a time of 52 bits of them would be over after 52 days. */
#define MONOTONIC_SHIFT 4

typedef const struct cpuid_feature *ask_leaf(unsigned);

/* As x86_cpu_present says it, which cannot be asked: an older libc ends a program that names its function. */
static int is_present(ask_leaf *leaf_of, pt_u32 feature)
{
    enum { BITS = 32, REGISTERS = 4 };
    const struct cpuid_feature *leaf = leaf_of(feature / (BITS * REGISTERS));
    return leaf && leaf->cpuid_array[feature / BITS % REGISTERS] >> feature % BITS & 1;
}

/* ld.so has asked cpuid already, and tells since glibc 2.33; asking again costs a VM exit each time. */
static void look_at_machine(void)
{
    enum { POWER_LEAF = 0x80000007u, INVARIANT_TSC = 1 << 8 };
    ask_leaf *leaf_of = (ask_leaf *)(pt_u64)pt_next_find_of_libc("__x86_get_cpuid_feature_leaf");
    unsigned eax, ebx, ecx = 0, of_power = 0, unused;
    if (!leaf_of) {
        __get_cpuid(1, &eax, &ebx, &ecx, &unused);
        __get_cpuid(POWER_LEAF, &eax, &ebx, &unused, &of_power);
    }
    const int has_tsc = leaf_of ? is_present(leaf_of, x86_cpu_INVARIANT_TSC) : (of_power & INVARIANT_TSC) != 0;
    pt_crc_in_hardware = leaf_of ? is_present(leaf_of, x86_cpu_SSE4_2) : (ecx & bit_SSE4_2) != 0;
    pt_switches.tsc = has_tsc ? PT_TSC_FREE : PT_TSC_NONE;
    pt_switches.clock_shift = pt_switches.tsc ? TSC_SHIFT : MONOTONIC_SHIFT;
    int tsc_mode = 0;
    if (pt_syscall2(SYS_prctl, PR_GET_TSC, &tsc_mode) == 0 && tsc_mode == PR_TSC_SIGSEGV)
        pt_switches.tsc = PT_TSC_NONE, pt_switches.clock_shift = MONOTONIC_SHIFT;
}

static const char *command_name(int argc, char **argv)
{
    const char *name = argc > 0 && argv[0] && argv[0][0] ? argv[0] : "program";
    for (const char *at = name; *at; at++)
        if (*at == '/' && at[1])
            name = at + 1;
    return name;
}

/* What we map at the start is about 2 MiB. A limit that this is much of was measured for the program alone. */
static int is_short_of_memory(void)
{
    enum { LEAST_BYTES = 16 << 20 };
    struct rlimit data = {RLIM_INFINITY, 0}, all = data; /* so they stay where a filter refuses to tell */
    pt_syscall4(SYS_prlimit64, 0, RLIMIT_DATA, 0, &data);
    pt_syscall4(SYS_prlimit64, 0, RLIMIT_AS, 0, &all);
    return data.rlim_cur < LEAST_BYTES || all.rlim_cur < LEAST_BYTES;
}

/* For programs that this one starts. Not for a process that may have threads. */
static void announce(int is_new_session)
{
    char digits[24];
    struct pt_text text = {digits, 0, sizeof digits};
    if (is_new_session)
        setenv("PROFTRACE_SESSION", pt_session_path, 1);
    pt_text_number(&text, pt_n_filters, 0);
    if (pt_options.filters != pt_n_filters)
        setenv("PROFTRACE_FILTERS", digits, 1); /* under as many, they need not be tried again */
    pt_injection_announce();
}

/* Whether the kernel lets us live here. A process that is short of memory is only counted, without any of ours. */
static int is_admitted(int *ret_is_short)
{
    if (pt_inherited_filter() == PT_FILTERED)
        return 0;
    *ret_is_short = is_short_of_memory();
    if (!*ret_is_short)
        pt_start_memory_reserve(pt_whole_pages(PT_FD_TABLE_BYTES) + pt_whole_pages(sizeof *pt_image) +
                                pt_whole_pages(sizeof(struct pt_private)) + pt_whole_pages(pt_first_bytes()));
    *ret_is_short = *ret_is_short || pt_fd_table_make() < 0;
    if (*ret_is_short || pt_image_reserve() == 0)
        return 1;
    *ret_is_short = !pt_n_filters; /* a filter may refuse what such memory needs */
    return *ret_is_short;
}

static pt_u8 whose_malloc(enum pt_arrival arrival)
{
    if (arrival == PT_ARRIVAL_INJECTED)
        return PT_MALLOC_TOO_LATE;
    const struct link_map *before = pt_next_before_us("malloc");
    return !before ? PT_MALLOC_HOOKED : before->l_prev ? PT_MALLOC_OF_ANOTHER : PT_MALLOC_OF_PROGRAM;
}

/* Without a run nothing is recorded. But programs that this one starts are looked after: with us in them those of
 * AddressSanitizer would end, and the loader would print errors into others. */
enum work { NOTHING, STARTS_ALONE, ALL };

static enum work bring_up(int argc, char **argv, char **environment)
{
    if (!gnu_get_libc_version) /* musl does not even pass the arguments to constructors */
        return NOTHING;
    pt_options_read(environment);
    if (pt_options.disable || getauxval(AT_SECURE))
        return NOTHING;
    const enum pt_arrival arrival = pt_injection_arrival();
    if (arrival == PT_ARRIVAL_SECOND)
        return NOTHING;
    int is_short;
    if (!is_admitted(&is_short)) {
        pt_session_refuse_at_start(pt_options.session);
        return NOTHING;
    }
    pt_options_keep();
    pt_sandbox_remember();
    look_at_machine();
    pt_switches.stacks = pt_options.stacks;
    pt_switches.malloc = whose_malloc(arrival);
    pt_modules_init();
    const int session = pt_session_open(command_name(argc, argv));
    if (session < 0)
        return is_short || session == PT_SESSION_OF_OUR_COMMAND ? NOTHING : STARTS_ALONE;
    if (is_short) {
        pt_session_refuse(PT_REFUSAL_memory);
        return NOTHING;
    }
    pt_image_set_arguments(argc, argv);
    pt_rank_read(environment);
    const pt_u64 mask = pt_signals_block();
    struct pt_tracer_thread *t = pt_thread_attach();
    pt_signals_restore(mask);
    if (!t)
        return NOTHING;
    pt_define_python();
    pt_define_allocator();
    if (arrival == PT_ARRIVAL_INJECTED) {
        pt_injection_note_hooks_blind();
        return ALL;
    }
    announce(session == 1);
    pt_process_watch_exit();
    return ALL;
}

__attribute__((constructor(101))) static void initialise(int argc, char **argv, char **environment)
{
    pt_valgrind_ask();
    pt_reals_prepare();
    const enum work work = bring_up(argc, argv, environment);
    pt_start_memory_end();
    if (work == STARTS_ALONE)
        pt_private_files_without_run(pt_own_path);
    if (work != ALL) {
        pt_switches = (struct pt_switches){.off = 1, .starts = work == STARTS_ALONE};
        return;
    }
    pt_switches.starts = 1;
    pt_switches.io = pt_options.io;
    pt_switches.stdio = pt_options.stdio;
    pt_switches.locks = pt_options.locks;
    pt_switches.waits = pt_options.waits;
    pt_switches.net = pt_options.net;
    pt_switches.cuda = pt_options.cuda;
    pt_switches.user = 1;
    __atomic_store_n(&pt_switches.heap, pt_options.heap, __ATOMIC_RELEASE);
}
