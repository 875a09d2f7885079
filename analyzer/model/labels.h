/* SPDX-License-Identifier: MIT
 *
 * labels.h - short names of processes and threads that are unique in a session: "100/101", "100#3/101#7" where a
 * number was used twice. They are valid as long as the labels.
 */
#ifndef PT_MODEL_LABELS_H
#define PT_MODEL_LABELS_H

#include "session_types.h"

struct pt_labels;
struct pt_labels *pt_labels_new(const struct pt_session *session);
void pt_labels_free(struct pt_labels *labels);
const char *pt_label_of_process(const struct pt_labels *labels, const struct pt_process *process);
const char *pt_label_of_thread(const struct pt_labels *labels, const struct pt_thread *thread);

#endif
