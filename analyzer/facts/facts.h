/* SPDX-License-Identifier: MIT
 *
 * facts.h - collects the facts; state.h says what they are.
 */
#ifndef PT_FACTS_FACTS_H
#define PT_FACTS_FACTS_H

#include "state.h"

/* Calls are of these categories. */
#define PT_CALL_CATEGORIES                                                                                             \
    (PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_MAP | PT_CATEGORY_PROC | PT_CATEGORY_WAIT |   \
     PT_CATEGORY_NET | PT_CATEGORY_CUDA)
/* The facts need all events of these categories: GPU records include the driver's own work. */
#define PT_FACTS_CATEGORIES (PT_CALL_CATEGORIES | PT_CATEGORY_GPU | PT_CATEGORY_CLOCK | PT_CATEGORY_PYTHON)

/* The stages are known. Stays until the profile is freed. */
struct pt_facts *pt_facts_open(struct pt_profile *profile);
void pt_facts_close(struct pt_facts *facts);
void pt_facts_event(struct pt_facts *facts, const struct pt_event *event);
/* After the last event. */
void pt_facts_settle(struct pt_facts *facts);

#endif
