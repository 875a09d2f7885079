/* SPDX-License-Identifier: MIT
 *
 * Owns: the open phases of the main thread. Threads: one. Never: allocates: a run may have a hundred thousand
 * processes.
 */
#include "peak_phase.h"

#include "decode/phase_names.h"
#include "proftrace/payloads.h"
#include "model/session.h"

bool pt_peak_phase_concerns(const struct pt_event *e)
{
    return (e->desc->kind == PT_KIND_phase_begin || e->desc->kind == PT_KIND_phase_end) &&
           e->thread->tid == e->process->pid;
}

void pt_peak_phase_event(struct pt_peak_phase *phase, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_phase_end) {
        phase->depth -= phase->depth > 0;
        return;
    }
    if (phase->depth < PT_PEAK_PHASES)
        phase->open[phase->depth] = (pt_u8)pt_phase_of_tag(e->tag);
    phase->depth++;
    phase->is_training = true;
}

void pt_peak_phase_note(struct pt_peak_phase *phase)
{
    const pt_u32 depth = phase->depth < PT_PEAK_PHASES ? phase->depth : PT_PEAK_PHASES;
    phase->at_peak = depth ? phase->open[depth - 1] : 0;
}
