/* SPDX-License-Identifier: MIT
 *
 * ignored_options.c - Owns: the notes on options that a traced process was given and did not understand. Threads: one,
 * while the session is opened. Never: assumes that the text in a file is well-formed.
 */
#include "ignored_options.h"

#include <string.h>

#include "options/option_values.h"
#include "source/trace_file.h"
#include "util/auto.h"
#include "util/mem.h"
#include "notes.h"

struct noting {
    struct pt_session *session;
    bool was_told;
};

static void note_once(void *context, const char *problem, const char *remedy)
{
    PT_AUTO(pt_freep) char *note = pt_asprintf("%s; %s", problem, remedy);
    struct noting *noting = context;
    struct pt_session *session = noting->session;
    const pt_u32 before = session->n_notes;
    pt_session_note_once(session, note);
    session->n_ignored_options += session->n_notes - before;
    noting->was_told = true;
}

static bool is_cut(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals && strlen(equals + 1) >= PT_IGNORED_VALUE_BYTES;
}

/* It is right here: the library that recorded was one that did not know it, or this value; or what is wrong is not in
 * the trace. */
static void note_of_version(struct noting *noting, const char *word, pt_u32 version)
{
    const bool may_be_wrong = is_cut(word);
    PT_AUTO(pt_freep)
    char *problem = pt_asprintf("%s%s had no effect in the library that recorded (version %u.%u.%u)", word,
                                may_be_wrong ? "..." : "", version >> 16, version >> 8 & 255, version & 255);
    note_once(noting, problem,
              may_be_wrong ? "correct its end or shorten it, or record with the library of this version"
                           : "record with the library of this version");
}

void pt_process_note_ignored_options(const struct pt_process *process, struct pt_session *session)
{
    char words[PT_IGNORED_OPTIONS_BYTES + 1] = "", *rest = NULL;
    memcpy(words, process->file->header->ignored_options, PT_IGNORED_OPTIONS_BYTES);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        PT_AUTO(pt_freep) char *variable = pt_asprintf("%s%s", word, strchr(word, '=') ? "" : "=");
        char *last_item = is_cut(word) ? strrchr(variable, ',') : NULL;
        if (last_item) /* nobody wrote "ac" for active=10 */
            *last_item = 0;
        struct noting noting = {session, false};
        pt_check_option_values((char *const[]){variable, NULL}, note_once, &noting);
        if (!noting.was_told && pt_is_option(word))
            note_of_version(&noting, word, process->file->header->tool_version);
    }
}
