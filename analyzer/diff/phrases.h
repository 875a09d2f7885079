/* SPDX-License-Identifier: MIT
 *
 * phrases.h - the parts that the sentence about a stage is made of. Raw: names in them are hostile.
 */
#ifndef PT_DIFF_PHRASES_H
#define PT_DIFF_PHRASES_H

#include "change.h"

void pt_put_seconds(struct pt_str *out, double seconds);
/* "+1.20 s" */
void pt_put_difference(struct pt_str *out, double seconds);
/* "Images.load (train.py:15)" */
void pt_put_place(struct pt_str *out, const struct pt_change *change);
/* Between `before` and `after`: "decode (train.py:16), which computes for 1.58 s instead of 516 ms". */
void pt_put_function(struct pt_str *out, const char *before, const struct pt_change *function, const char *after);
/* What workers do: " reads 3.1 x the bytes (1.00 GiB -> 3.10 GiB)"; another call is told as pt_put_call does. */
void pt_put_work(struct pt_str *out, const struct pt_change *call);
/* "/bin/true in train.py:7 helper: 400 x the runs (1 -> 400)", or how much longer all take. place: NULL = not known. */
void pt_put_runs(struct pt_str *out, const struct pt_change *command, const char *place);
/* It is made a tenth more or less often, or with so many more or fewer bytes. */
bool pt_call_is_other(const struct pt_change *call);
/* "read: 3.1 x the bytes (1.00 GiB -> 3.10 GiB)": its bytes, how often it is made, or how long each takes. */
void pt_put_call(struct pt_str *out, const struct pt_change *call);

#endif
