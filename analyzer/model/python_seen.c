/* SPDX-License-Identifier: MIT
 *
 * python_seen.c - Owns: the notes on Pythons that could not be looked into. Threads: one, while the session is opened.
 * Never: assumes that the text in a file is well-formed.
 */
#include "python_seen.h"

#include <string.h>

#include "decode/text.h"
#include "source/trace_file.h"
#include "util/auto.h"
#include "notes.h"

const char *const pt_python_states[PT_PYTHON_STATES] = {"none", "seen", "ready", "no_stacks", "refused", "off"};

void pt_process_note_python(const struct pt_process *process, struct pt_session *session)
{
    const struct pt_python_header *python = &process->file->header->python;
    PT_AUTO(pt_str_fini) struct pt_str note = {0};
    char why[sizeof python->note + 1] = "";
    memcpy(why, python->note, sizeof python->note);
    if (python->state != PT_PYTHON_NO_STACKS && python->state != PT_PYTHON_REFUSED)
        return;
    pt_str_add(&note, "CPython ");
    if (python->version)
        pt_str_printf(&note, "%u.%u.%u ", python->version >> 24 & 255, python->version >> 16 & 255,
                      python->version >> 8 & 255);
    pt_str_add(&note, python->state == PT_PYTHON_REFUSED
                          ? "was left alone, so neither phases nor places in Python are known: "
                          : "was seen without its stacks, so no places in Python are known: ");
    pt_text_quote(&note, why);
    pt_session_note_once(session, pt_str_text(&note));
}
