/* SPDX-License-Identifier: MIT
 *
 * call_files.h - the files that calls are of which one run makes more often, and the line of Python that makes them.
 */
#ifndef PT_DIFF_CALL_FILES_H
#define PT_DIFF_CALL_FILES_H

#include "change.h"

/* " of DIR/0.jpg in train.py:9 load", or of many files of one name " of DIR/<any>.jpg in train.py:9 load". Nothing
 * where no such file or name has half of the difference, and no place where nobody knows it. */
void pt_put_files(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *call, const char *part);

#endif
