/* SPDX-License-Identifier: MIT
 *
 * checksum.c - whether this machine computes CRC-32C itself. Written by the constructor.
 */
#include "checksum.h"

pt_u8 pt_crc_in_hardware;
