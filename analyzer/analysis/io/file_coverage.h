/* SPDX-License-Identifier: MIT
 *
 * io/file_coverage.h - which parts of a file were touched, in 24 bytes per file: 128 granules that grow with the
 * file.
 *
 * The distinct bytes are never underestimated by more than the rounding to granules and never above the furthest byte
 * touched, so what remains as "read again" is a lower bound. Zeroed = nothing touched.
 */
#ifndef PT_ANALYSIS_IO_FILE_COVERAGE_H
#define PT_ANALYSIS_IO_FILE_COVERAGE_H

#include "proftrace/types.h"

struct pt_coverage {
    pt_u64 bits[2];
    pt_u64 end_bytes : 58;   /* furthest byte touched, plus one */
    pt_u64 granule_step : 6; /* granule = 4 KiB << step */
};

void pt_coverage_add(struct pt_coverage *coverage, pt_u64 offset_bytes, pt_u64 bytes);
/* What is in one of them, or in both. */
struct pt_coverage pt_coverage_of_both(struct pt_coverage a, struct pt_coverage b);
pt_u64 pt_coverage_bytes(const struct pt_coverage *coverage);

#endif
