/* SPDX-License-Identifier: MIT
 *
 * options.h - what of a run a report is about.
 */
#ifndef PT_REPORT_BUILD_OPTIONS_H
#define PT_REPORT_BUILD_OPTIONS_H

#include <stddef.h>

struct pt_report_options {
    const char *stage; /* only this one; NULL = all */
    size_t top;        /* rows in each table that people read */
};

#endif
