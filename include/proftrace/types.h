/* SPDX-License-Identifier: MIT
 *
 * types.h - numbers of a known width.
 */
#ifndef PROFTRACE_TYPES_H
#define PROFTRACE_TYPES_H

#include <stdint.h>

typedef uint8_t pt_u8;
typedef uint16_t pt_u16;
typedef uint32_t pt_u32;
typedef uint64_t pt_u64;
typedef int32_t pt_i32;
typedef int64_t pt_i64;
typedef double pt_f64;

#endif
