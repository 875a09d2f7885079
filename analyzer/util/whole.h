/* SPDX-License-Identifier: MIT
 *
 * whole.h - from a real number to the nearest whole one that the type holds. Estimates and sums over hostile traces may
 * be of any size or none, and C defines no cast of them.
 */
#ifndef PT_UTIL_WHOLE_H
#define PT_UTIL_WHOLE_H

#include "proftrace/types.h"

/* Cut, as a cast does; 0 for what is negative or no number. */
static inline pt_u64 pt_whole(double value)
{
    return !(value > 0) ? 0 : value >= 0x1p64 ? ~0ull : (pt_u64)value;
}

/* Cut, as a cast does; 0 for what is no number. */
static inline pt_i64 pt_whole_signed(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : value == value ? (pt_i64)value : 0;
}

#endif
