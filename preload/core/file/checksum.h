/* SPDX-License-Identifier: MIT
 *
 * checksum.h - CRC-32C without cpuid.
 */
#ifndef PT_CORE_FILE_CHECKSUM_H
#define PT_CORE_FILE_CHECKSUM_H

#include "proftrace/format.h"
#include "core/compiler.h"

/* The constructor has asked ld.so what the machine can: cpuid costs a VM exit each time. */
extern pt_u8 pt_crc_in_hardware __attribute__((visibility("hidden")));

PT_ALWAYS_INLINE pt_u32 pt_crc(pt_u32 crc, const void *data, pt_u64 bytes)
{
    return ~(pt_crc_in_hardware ? pt_crc32c_hw(~crc, data, bytes) : pt_crc32c_sw(~crc, data, bytes));
}

#endif
