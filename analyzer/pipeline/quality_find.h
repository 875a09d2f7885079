/* SPDX-License-Identifier: MIT
 *
 * quality_find.h - one number in a JSON document whose form nobody has fixed.
 */
#ifndef PT_PIPELINE_QUALITY_FIND_H
#define PT_PIPELINE_QUALITY_FIND_H

#include <cjson/cJSON.h>

/* Looked for at the top, then as a dotted path (runs.0.score: numbers are indices), then anywhere if it is there once.
 * NULL and the value, or why there is none (for free()). */
char *pt_quality_find(const cJSON *json, const char *key, double *ret_value);

#endif
