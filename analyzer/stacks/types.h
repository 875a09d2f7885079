/* SPDX-License-Identifier: MIT
 *
 * stacks/types.h - what the threads of some processes do at this instant.
 */
#ifndef PT_STACKS_TYPES_H
#define PT_STACKS_TYPES_H

#include <stdbool.h>

#include "proftrace/format.h"

#include "cpu_profile/images.h"
#include "cpu_profile/python/pythons.h"
#include "symbols/symbols.h"
#include "util/map.h"
#include "util/vec.h"
#include "util/text/path.h"

#define PT_UNKNOWN_NS UINT64_MAX

/* Texts live as long as the look; NULL = not known. */
struct pt_stack_line {
    const char *function, *file, *module;
    pt_u32 line; /* 0 = not known */
    bool is_python;
};

struct pt_look_thread {
    struct pt_look_process *process;
    pt_u32 tid, inner_tid; /* inner_tid: what it is called in its own namespace, and in its locks */
    char name[32];
    char state;          /* as /proc has it */
    const char *wants;   /* "an item of a queue", where its functions say it; NULL = they do not */
    const char *does;    /* "waits for the mutex at 0x5500, held by thread 12" */
    const char *holds;   /* what others wait for; NULL = not known to hold anything */
    const char *why_cut; /* the stack is not whole; NULL = it is */
    bool was_stopped;    /* to read its registers */
    long call;           /* the system call that it is in; -1 = none */
    pt_u64 arguments[6];
    struct {
        PT_VEC(struct pt_stack_line); /* innermost first */
    } lines;
    /* It goes on when one of these threads, or any thread of these processes, does something. Both empty: not known. */
    struct {
        PT_VEC(pt_u32);
    } waits_for, waits_for_processes;
    bool may_go_on;   /* by itself, by a signal, or by somebody who was not looked at */
    bool asks_again;  /* its waits are short, and of no effect while nothing changes */
    const char *lost; /* why nobody can let it go on; NULL = somebody could */
    pt_u64 since_ns;  /* how long it has not run; PT_UNKNOWN_NS = not known */
    pt_u64 switches;  /* how often it had left the CPU when its call was read last */
    bool is_deadlocked;
};

/* A file of CPython's: the program, a shared library, or both. */
struct pt_look_interpreter {
    const char *path;
    pt_u64 start; /* where its first byte lies in memory */
    pt_u64 inode;
};

struct pt_look_process {
    pt_u32 pid, ppid, session;
    pt_u32 seen_by; /* pid; where the main thread has ended, a thread by whose number /proc shows memory and files */
    pt_u64 caught_signals;                    /* a bit for each, from 1 */
    pt_u64 major_faults, refaults, looked_ns; /* refaults: the machine's */
    const char *disk; /* "120 pages of its memory were read back ..."; NULL = it does not wait for its memory */
    const char *command, *why_not; /* why_not: it could not be read; NULL = it was */
    char state;
    pt_u32 traced_by;          /* a debugger's pid; 0 = none */
    const char *run;           /* the run directory that it records into; NULL = it is not traced by proftrace */
    const char *killed_by;     /* the signal of a zombie; NULL = none */
    bool is_python;            /* CPython is mapped */
    bool has_namespace;        /* of process ids */
    const char *why_no_python; /* its frames of Python cannot be read; NULL = they can, or there are none */
    struct {
        PT_VEC(struct pt_look_interpreter);
    } interpreters;
    struct pt_image image;
    struct pt_pythons pythons;
    int run_fd;
    pt_u64 stopped_ns;   /* the time that its threads were stopped, together */
    pt_u64 stop_wait_ns; /* until they were, or were let alone */
    struct {
        PT_VEC(struct pt_look_thread *);
    } threads;
};

struct pt_look {
    struct {
        PT_VEC(struct pt_look_process *);
    } processes;
    struct {
        PT_VEC(const char *);
    } conclusions;
    size_t n_causes; /* the first conclusions: why something does not go on; those behind them may have to do with it */
    struct pt_map by_tid;                 /* -> struct pt_look_thread * */
    struct pt_map by_pid;                 /* -> struct pt_look_process * */
    struct pt_channel_ends *channel_ends; /* NULL = nobody asked yet */
    struct pt_code_modules modules;
    struct pt_symbols *symbols;
    struct pt_arena texts;
    bool may_stop;
};

__attribute__((format(printf, 2, 3))) const char *pt_look_text(struct pt_look *look, const char *format, ...);

static inline bool pt_look_is_trace_file(const char *path)
{
    return pt_ends_with(path, PT_FILE_SUFFIX) || pt_ends_with(path, PT_SMALL_SUFFIX);
}

static inline struct pt_look_thread *pt_look_find(const struct pt_look *look, pt_u32 tid)
{
    return pt_map_pointer(&look->by_tid, tid);
}

static inline struct pt_look_process *pt_look_find_process(const struct pt_look *look, pt_u32 pid)
{
    return pt_map_pointer(&look->by_pid, pid);
}

#endif
