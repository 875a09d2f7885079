/* SPDX-License-Identifier: MIT
 *
 * check.h - is a run worse than the runs of a baseline?
 */
#ifndef PT_REGRESSION_CHECK_H
#define PT_REGRESSION_CHECK_H

#include <cjson/cJSON.h>

#include "report/doc/doc.h"

enum pt_check_result { PT_CHECK_OK = 0, PT_CHECK_WORSE = 1, PT_CHECK_UNDECIDED = 4 }; /* exit codes */

struct pt_check {
    const cJSON *baseline;
    cJSON **documents; /* of the runs that are checked; several where times are compared */
    size_t n_documents;
    const char *stage; /* only this one; NULL = all of the first run */
    bool with_times;
};

/* The document's verdict is one line; each stage has a table of figures. Worse wins over undecided: what is known is
 * said. */
enum pt_check_result pt_check(const struct pt_check *check, struct pt_doc *doc);

#endif
