/* SPDX-License-Identifier: MIT
 *
 * raw.h - raw buffers kept for a replay.
 */
#ifndef FAKECUDA_CLIENT_RAW_H
#define FAKECUDA_CLIENT_RAW_H

#include <stdint.h>

void raw_open(void);
void raw_buffer(const uint8_t *data, uint64_t bytes);
/* A record, and where the next one or the buffer's end is. Before its texts are freed. */
void raw_record(const uint8_t *record, const uint8_t *end);
void raw_close(void);

#endif
