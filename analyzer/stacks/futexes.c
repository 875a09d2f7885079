/* SPDX-License-Identifier: MIT
 *
 * stacks/futexes.c - Owns: the locks of glibc and CPython, read from outside. Threads: main only. State: none. Never:
 * says who holds a lock where its memory does not.
 *
 * The places of fields are those of glibc since 2.25 and of CPython 3.2 to 3.14, x86-64; what is read is believed only
 * if it names a thread.
 */
#include "futexes.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cpu_profile/python/remote.h"
#include "needs.h"
#include "util/auto.h"
#include "util/mem.h"

enum {
    MUTEX_OWNER = 8,
    /* pthread_rwlock_t: a thread waits at byte 8 or 12, and byte 24 has the writer. */
    RWLOCK_WRITER_FROM_PHASE = 16,
    RWLOCK_WRITER_FROM_WRITERS = 12,
    /* struct pthread: a pointer to itself, and the thread's id. */
    PTHREAD_SELF = 16,
    PTHREAD_TID = 720,
    /* pthread_cond_t: two groups take turns. */
    CONDITION_SIGNALS = 40,
    /* The GIL's state: interval, last holder, locked, number of switches, condition. */
    GIL_HOLDER = 8,
    GIL_LOCKED = 16,
    GIL_CONDITION = 32,
    TSTATE_BYTES = 512,
};

struct futex {
    unsigned long long address;
    pt_u32 value, word; /* expected when it began to wait, and now */
    bool has_word, is_pi, is_private, is_limited;
};

static bool is_in(const struct pt_look_thread *thread, const char *part)
{
    for (size_t i = 0; i < thread->lines.n && i < 8; i++)
        if (thread->lines.items[i].function && strstr(thread->lines.items[i].function, part))
            return true;
    return false;
}

static const struct pt_look_thread *own_thread(const struct pt_look_process *process, pt_u32 inner_tid)
{
    for (size_t i = 0; i < process->threads.n; i++)
        if (process->threads.items[i]->inner_tid == inner_tid)
            return process->threads.items[i];
    return NULL;
}

static pt_u32 read_word(const struct pt_look_thread *thread, pt_u64 address)
{
    pt_u32 word = 0;
    return pt_remote_read(thread->process->seen_by, address, &word, sizeof word) ? word : 0;
}

/* ---- who holds it ---- */

/* By its name in its own namespace; 0 = not known. */
static pt_u32 owner_of(const struct pt_look_thread *thread, const struct futex *futex)
{
    if (futex->is_pi && futex->has_word)
        return futex->word & FUTEX_TID_MASK;
    if (is_in(thread, "pthread_rwlock")) {
        const pt_u32 first = read_word(thread, futex->address + RWLOCK_WRITER_FROM_PHASE);
        const pt_u32 second = read_word(thread, futex->address + RWLOCK_WRITER_FROM_WRITERS);
        return own_thread(thread->process, first) ? first : own_thread(thread->process, second) ? second : 0;
    }
    if (futex->value == 2 && futex->word == 2 && is_in(thread, "pthread_mutex"))
        return read_word(thread, futex->address + MUTEX_OWNER);
    return 0;
}

/* The list of threads was made before this wait was read: a program that starts threads all the time has new ones. */
static bool has_begun_since(const struct pt_look_thread *thread, pt_u32 owner)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/task/%u", thread->process->pid, owner);
    return !thread->process->has_namespace && access(path, F_OK) == 0;
}

static const char *held(struct pt_look *look, struct pt_look_thread *thread, const struct futex *futex, pt_u32 owner)
{
    const struct pt_look_thread *holder = own_thread(thread->process, owner);
    if (holder) {
        pt_vec_push(&thread->waits_for, holder->tid);
        return pt_look_text(look, "thread %u", holder->tid);
    }
    holder = thread->process->has_namespace ? NULL : pt_look_find(look, owner);
    if (!futex->is_private && holder) {
        pt_vec_push(&thread->waits_for, owner);
        return pt_look_text(look, "thread %u of process %u", owner, holder->process->pid);
    }
    if (!futex->is_private)
        return pt_look_text(look, "thread %u, which is not there (any more)", owner);
    if (!holder && has_begun_since(thread, owner)) {
        thread->may_go_on = true;
        return pt_look_text(look, "thread %u, which began a moment ago", owner);
    }
    if (holder)
        thread->lost = pt_look_text(look,
                                    "its process was forked while thread %u of process %u held the mutex, and in the "
                                    "copy nobody gives it back",
                                    owner, holder->process->pid);
    else
        thread->lost =
            pt_look_text(look,
                         "thread %u, which held the mutex, is not there: it ended without giving it back, or "
                         "the process was forked while it held it",
                         owner);
    return pt_look_text(look, "thread %u, which this process does not have", owner);
}

/* ---- the GIL ---- */

/* A thread state knows its thread by what pthread_self() gave it. */
static const struct pt_look_thread *thread_of_state(const struct pt_look_process *process, pt_u64 state)
{
    pt_u64 words[TSTATE_BYTES / sizeof(pt_u64)], self;
    pt_u32 tid;
    if (!state || !pt_remote_read(process->seen_by, state, words, sizeof words))
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i] < 4096 || words[i] % 16 ||
            !pt_remote_read(process->seen_by, words[i] + PTHREAD_SELF, &self, sizeof self) || self != words[i] ||
            !pt_remote_read(process->seen_by, words[i] + PTHREAD_TID, &tid, sizeof tid))
            continue;
        const struct pt_look_thread *thread = own_thread(process, tid);
        if (thread)
            return thread;
    }
    return NULL;
}

/* CPython's waits for the GIL have a limit, after which it asks for it; its functions often have no names. NULL = it
 * does not wait for the GIL, or for one that nobody holds. */
static const char *of_gil(struct pt_look *look, struct pt_look_thread *thread, const struct futex *futex)
{
    if (!thread->process->is_python || !futex->is_limited || !futex->is_private)
        return NULL;
    for (pt_u64 group = 0; group < 2; group++) {
        const pt_u64 gil = futex->address - CONDITION_SIGNALS - group * sizeof(pt_u32) - GIL_CONDITION;
        pt_u64 state;
        if (gil % 8 || read_word(thread, gil + GIL_LOCKED) != 1 ||
            !pt_remote_read(thread->process->seen_by, gil + GIL_HOLDER, &state, sizeof state))
            continue;
        const struct pt_look_thread *holder = thread_of_state(thread->process, state);
        if (!holder || holder == thread)
            continue;
        pt_vec_push(&thread->waits_for, holder->tid);
        thread->asks_again = true;
        pt_look_find(look, holder->tid)->holds = "the GIL";
        return pt_look_text(look, "waits for the GIL, held by thread %u", holder->tid);
    }
    return NULL;
}

/* ---- all of them ---- */

static const char *kind_of(const struct pt_look_thread *thread)
{
    static const struct {
        const char *part, *what;
    } kinds[] = {
        {"pthread_cond", "a condition variable"},   {"sem_", "a semaphore"},      {"pthread_barrier", "a barrier"},
        {"pthread_rwlock", "a reader-writer lock"}, {"pthread_mutex", "a mutex"}, {"lll_lock_wait", "a lock"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_in(thread, kinds[i].part))
            return kinds[i].what;
    return "a futex";
}

static bool joins(struct pt_look_thread *thread, const struct futex *futex)
{
    const struct pt_look_thread *joined = own_thread(thread->process, futex->value);
    if (!joined || joined == thread || !futex->has_word || futex->word != futex->value)
        return false;
    pt_vec_push(&thread->waits_for, joined->tid);
    return true;
}

/* The C++ library waits as if other processes might wake it: where the memory is the process's own, none can. */
static bool is_in_own_memory(pt_u32 pid, pt_u64 address)
{
    enum { PRIVATE = 3 }; /* "r--p": the place of the p */
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%u/maps", pid), *line = NULL;
    PT_AUTO(pt_fclosep) FILE *maps = fopen(path, "re");
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        unsigned long long start, end;
        char rights[5] = "";
        if (sscanf(line, "%llx-%llx %4s", &start, &end, rights) == 3 && start <= address && address < end)
            return rights[PRIVATE] == 'p';
    }
    return false;
}

static const char *of_shared(struct pt_look *look, struct pt_look_thread *thread, const struct futex *futex)
{
    thread->may_go_on = true;
    return pt_look_text(look, "waits for %s at 0x%llx that processes share", kind_of(thread), futex->address);
}

const char *pt_futex_wait(struct pt_look *look, struct pt_look_thread *thread)
{
    const pt_u32 command = (pt_u32)thread->arguments[1] & FUTEX_CMD_MASK;
    struct futex futex = {.address = thread->arguments[0],
                          .value = (pt_u32)thread->arguments[2],
                          .is_pi = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2,
                          .is_private = (thread->arguments[1] & FUTEX_PRIVATE_FLAG) != 0,
                          .is_limited = thread->arguments[3] != 0};
    if (!futex.is_private)
        futex.is_private = is_in_own_memory(thread->process->seen_by, futex.address);
    futex.has_word = pt_remote_read(thread->process->seen_by, futex.address, &futex.word, sizeof futex.word);
    const char *gil = of_gil(look, thread, &futex);
    if (gil)
        return gil;
    const char *until = futex.is_limited ? ", for a limited time" : "";
    const pt_u32 owner = owner_of(thread, &futex);
    thread->may_go_on |= futex.is_limited;
    if (owner)
        return pt_look_text(look, "waits for the %s at 0x%llx, held by %s%s",
                            is_in(thread, "pthread_rwlock") ? "reader-writer lock" : "mutex", futex.address,
                            held(look, thread, &futex, owner), until);
    if (joins(thread, &futex))
        return pt_look_text(look, "waits for thread %u to end (pthread_join)%s", thread->waits_for.items[0], until);
    if (!futex.is_private)
        return of_shared(look, thread, &futex);
    /* Only threads of its own process can wake it, and their signal handlers. */
    pt_needs_process(thread, thread->process->pid);
    thread->may_go_on |= pt_may_be_signalled(look, thread->process);
    return pt_look_text(look, "waits for %s at 0x%llx%s", kind_of(thread), futex.address, until);
}
