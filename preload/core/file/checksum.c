/* SPDX-License-Identifier: MIT
 *
 * checksum.c - whether this machine has an instruction for CRC-32C. Written once, by the constructor, before any thread
 * reads it; never changes later.
 */
#include "checksum.h"

pt_u8 pt_crc_in_hardware;
