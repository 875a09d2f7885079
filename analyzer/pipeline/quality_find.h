/* SPDX-License-Identifier: MIT
 *
 * quality_find.h - finds one number in a JSON document of unknown form.
 */
#ifndef PT_PIPELINE_QUALITY_FIND_H
#define PT_PIPELINE_QUALITY_FIND_H

#include <cjson/cJSON.h>

enum pt_quality_presence {
    PT_QUALITY_ABSENT,
    PT_QUALITY_UNCLEAR, /* there several times, or as something else than a number */
    PT_QUALITY_THERE,   /* a number, or null in the place of one */
};

struct pt_quality_value {
    enum pt_quality_presence presence;
    double value;  /* NAN = there is none */
    char *problem; /* why, for free(); NULL = there is one */
};

/* Looked for at the top, then as a dotted path (runs.0.score: numbers are indices), then anywhere if it is there once.
 * Floors are no values: what a copy of our configuration has in profile.quality.min is not found anywhere. */
struct pt_quality_value pt_quality_find(const cJSON *json, const char *key);

#endif
