/* SPDX-License-Identifier: MIT
 *
 * proftrace.h - say what your program is doing, so that the profile can say it back.
 *
 * Header-only for you: there is nothing to link. Without libproftrace.so in the process every call is a test of a null
 * pointer. With it, a call stores one 32-byte record. All functions may be called from any thread and from signal
 * handlers; none ever fails, blocks, allocates or changes errno. Names are copied; pass the same text each time.
 *
 *     #include <proftrace/proftrace.h>
 *
 *     for (int epoch = 0; epoch < epochs; epoch++) {
 *         proftrace_epoch(epoch);
 *         while (next_batch(&batch)) {
 *             proftrace_step(step++);
 *             proftrace_range_push("forward");
 *             forward(&batch);
 *             proftrace_range_pop();
 *             proftrace_counter("loss", loss);
 *         }
 *     }
 *
 * Ranges nest per thread. In C++ and with GCC or Clang in C, PROFTRACE_RANGE("name") lasts to the end of the scope.
 */
#ifndef PROFTRACE_H
#define PROFTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

#define PROFTRACE_WEAK __attribute__((weak))

extern void proftrace_v1_range_push(const char *name) PROFTRACE_WEAK;
extern void proftrace_v1_range_pop(void) PROFTRACE_WEAK;
extern void proftrace_v1_counter(const char *name, double value) PROFTRACE_WEAK;
extern void proftrace_v1_mark(const char *name) PROFTRACE_WEAK;
extern void proftrace_v1_step(unsigned long long number) PROFTRACE_WEAK;
extern void proftrace_v1_epoch(unsigned long long number) PROFTRACE_WEAK;
extern void proftrace_v1_stage(const char *name) PROFTRACE_WEAK;

/* A range of this thread begins; proftrace_range_pop ends the innermost one. */
static inline void proftrace_range_push(const char *name)
{
    if (proftrace_v1_range_push)
        proftrace_v1_range_push(name);
}

static inline void proftrace_range_pop(void)
{
    if (proftrace_v1_range_pop)
        proftrace_v1_range_pop();
}

/* A value at this instant: loss, queue length, learning rate. */
static inline void proftrace_counter(const char *name, double value)
{
    if (proftrace_v1_counter)
        proftrace_v1_counter(name, value);
}

/* Something happened now. */
static inline void proftrace_mark(const char *name)
{
    if (proftrace_v1_mark)
        proftrace_v1_mark(name);
}

/* A training step (an epoch) begins; it lasts until the next one of this thread. */
static inline void proftrace_step(unsigned long long number)
{
    if (proftrace_v1_step)
        proftrace_v1_step(number);
}

static inline void proftrace_epoch(unsigned long long number)
{
    if (proftrace_v1_epoch)
        proftrace_v1_epoch(number);
}

/* From here on the process does the work of this stage: a name on timelines and in the events. The report's stages are
 * those that processes start in (PROFTRACE_STAGE, else the command's name). */
static inline void proftrace_stage(const char *name)
{
    if (proftrace_v1_stage)
        proftrace_v1_stage(name);
}

/* 1 when the library is in the process and records. */
extern int proftrace_v1_active(void) PROFTRACE_WEAK;
static inline int proftrace_active(void)
{
    return proftrace_v1_active ? proftrace_v1_active() : 0;
}

static inline void proftrace_scope_end(const char **name)
{
    (void)name;
    proftrace_range_pop();
}

#define PROFTRACE_JOIN2(a, b) a##b
#define PROFTRACE_JOIN(a, b) PROFTRACE_JOIN2(a, b)
#define PROFTRACE_RANGE(name)                                                                                          \
    __attribute__((cleanup(proftrace_scope_end), unused)) const char *PROFTRACE_JOIN(proftrace_scope_, __LINE__) =     \
        (proftrace_range_push(name), (name))

#ifdef __cplusplus
}
#endif

#endif
