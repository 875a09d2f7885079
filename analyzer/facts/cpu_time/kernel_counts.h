/* SPDX-License-Identifier: MIT
 *
 * kernel_counts.h - the time that threads ran, bound to the kernel's own count of it.
 *
 * The launcher's records of switches say when a thread had a CPU; but while a hypervisor had taken that CPU away
 * nothing ran on it, and of what comes before the first record and after the last one they say nothing. The kernel's
 * count is right: what the library read of it (event thread_clock, and for the process at its end), and what the
 * launcher did.
 */
#ifndef PT_FACTS_CPU_TIME_KERNEL_COUNTS_H
#define PT_FACTS_CPU_TIME_KERNEL_COUNTS_H

#include "decode/event.h"
#include "facts/cpu_names.h"
#include "facts/cpu_profiles.h"
#include "clocks.h"

struct pt_kernel_reading {
    pt_i64 at_ns; /* of the run */
    pt_u64 on_cpu_ns;
};

/* Of a thread: the first and the last reading of its clock. */
struct pt_kernel_count {
    struct pt_kernel_reading first, last;
    bool is_read;
    struct pt_thread_clock clock; /* what it did between its calls */
};

struct pt_kernel_counts {
    const struct pt_thread_ids *ids;
    struct pt_kernel_count *threads; /* by number */
};

/* The ids stay the caller's. */
void pt_kernel_counts_open(struct pt_kernel_counts *counts, const struct pt_thread_ids *ids);
void pt_kernel_counts_close(struct pt_kernel_counts *counts);
/* A call of a thread of a part of the account, which lasted `own_ns` without those in it. */
void pt_kernel_counts_call(struct pt_kernel_counts *counts, const struct pt_event *call, enum pt_time_part part,
                           pt_i64 own_ns);
/* Neither a call nor a reading: exec that begins or comes back. */
void pt_kernel_counts_point(struct pt_kernel_counts *counts, const struct pt_event *event);
/* A thread_clock. */
void pt_kernel_counts_read(struct pt_kernel_counts *counts, const struct pt_event *event);
/* After the last event: the profiles' times on the CPU become those of the kernel's count. What is taken off was time
 * in which the thread could have run: a hypervisor gave its CPU to others. `views`: by stage; NULL = there is none yet.
 */
void pt_kernel_counts_settle(const struct pt_kernel_counts *counts, struct pt_cpu_profiles *cpu,
                             struct pt_cpu_view *views);

/* What one image of a process used and how long it lived. CPU time counts from before the library was there, from fork
 * or exec: for that the process lived at least as long as it ran. */
struct pt_image_use {
    double cpu_ns;          /* of all its threads, without that of the image before; NAN = not known */
    double recorded_cpu_ns; /* of that, what was used in its recorded life */
    double lived_ns;
    double percent;    /* of one CPU, in its recorded life; NAN = not known */
    double unheard_ns; /* it was killed, and nothing was heard of it for so long: what it may have used besides */
};
/* What may be missing is more than half of what was noted. */
bool pt_may_be_much_more(double unheard_ns, double noted_ns);
struct pt_image_use pt_kernel_counts_image(const struct pt_kernel_counts *counts, const struct pt_cpu_profiles *cpu,
                                           const struct pt_process *process);

#endif
