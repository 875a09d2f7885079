/* SPDX-License-Identifier: MIT
 *
 * user_api.c - the functions behind proftrace.h.
 *
 * Entered by any thread of the host and in signal handlers. Names come from the program itself, so they are read
 * without a check; never keeps a pointer to one.
 */
#include "proftrace/proftrace.h"

#include "core/names/intern.h"
#include "hook.h"

static PT_NOINLINE void named(pt_u32 kind, const char *name, pt_u64 value)
{
    if (pt_likely(pt_switches.user))
        pt_point(kind, 0, 0, pt_words(pt_intern_string(name), 0), value);
}

static PT_NOINLINE void numbered(pt_u32 kind, pt_u64 number)
{
    if (pt_likely(pt_switches.user))
        pt_point(kind, 0, 0, number, 0);
}

PT_EXPORT void proftrace_v1_range_push(const char *name)
{
    named(PT_EV_range_begin, name, 0);
}

PT_EXPORT void proftrace_v1_range_pop(void)
{
    numbered(PT_EV_range_end, 0);
}

PT_EXPORT void proftrace_v1_counter(const char *name, double value)
{
    pt_u64 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    named(PT_EV_counter, name, bits);
}

PT_EXPORT void proftrace_v1_mark(const char *name)
{
    named(PT_EV_mark, name, 0);
}

PT_EXPORT void proftrace_v1_step(unsigned long long number)
{
    numbered(PT_EV_step, number);
}

PT_EXPORT void proftrace_v1_epoch(unsigned long long number)
{
    numbered(PT_EV_epoch, number);
}

PT_EXPORT void proftrace_v1_stage(const char *name)
{
    named(PT_EV_stage, name, 0);
}

PT_EXPORT int proftrace_v1_active(void)
{
    return pt_switches.user && !pt_switches.off;
}
