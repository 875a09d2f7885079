/* SPDX-License-Identifier: MIT
 *
 * helper_story.h - stories as those of tests/golden, but too long for a file: a test prints the text of one, and looks
 * at what the analyses made of it.
 */
#ifndef PT_TESTS_HELPER_STORY_H
#define PT_TESTS_HELPER_STORY_H

#include "helper_trace.h"

#include <stdio.h>

#include "analysis/analysis.h"

struct story {
    FILE *text;
    char folder[64];
    struct pt_profile profile; /* once it was analyzed */
};

void story_begin(struct story *story);
/* A process with one thread, whose tid is its pid; it lives for the first ten seconds. Its events follow. */
void story_process(struct story *story, int pid, const char *stage);
void story_analyze(struct story *story);
/* The number of the stage; fails the test where there is none. */
pt_u32 story_stage(const struct story *story, const char *name);
/* A metric of a stage; fails the test where it is not known. */
double story_metric(const struct story *story, pt_u32 stage, const char *name);
void story_end(struct story *story);

#endif
