/* SPDX-License-Identifier: MIT
 *
 * Owns: the coverage bitmaps of files. Threads: one per bitmap. Never: allocates.
 */
#include "file_coverage.h"

enum { GRANULE_LOG2 = 12, GRANULES = 128 };
#define LARGEST_FILE ((1ull << 57) - 1)

/* Every second bit joined with the one before: 64 bits to 32. */
static pt_u64 halve(pt_u64 bits)
{
    bits = (bits | bits >> 1) & 0x5555555555555555ull;
    bits = (bits | bits >> 1) & 0x3333333333333333ull;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0full;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffull;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffffull;
    return (bits | bits >> 16) & 0x00000000ffffffffull;
}

static void coarsen(struct pt_coverage *coverage)
{
    coverage->bits[0] = halve(coverage->bits[0]) | halve(coverage->bits[1]) << 32;
    coverage->bits[1] = 0;
    coverage->granule_step++;
}

void pt_coverage_add(struct pt_coverage *coverage, pt_u64 offset_bytes, pt_u64 bytes)
{
    if (!bytes || offset_bytes > LARGEST_FILE || bytes > LARGEST_FILE - offset_bytes)
        return;
    const pt_u64 last_byte = offset_bytes + bytes - 1;
    while (last_byte >> (GRANULE_LOG2 + coverage->granule_step) >= GRANULES)
        coarsen(coverage);
    const pt_u32 shift = GRANULE_LOG2 + coverage->granule_step;
    const pt_u32 first = (pt_u32)(offset_bytes >> shift), last = (pt_u32)(last_byte >> shift);
    for (pt_u32 i = first; i <= last; i++)
        coverage->bits[i >> 6] |= 1ull << (i & 63);
    if (last_byte + 1 > coverage->end_bytes)
        coverage->end_bytes = last_byte + 1;
}

pt_u64 pt_coverage_bytes(const struct pt_coverage *coverage)
{
    const pt_u64 granules =
        (pt_u64)__builtin_popcountll(coverage->bits[0]) + (pt_u64)__builtin_popcountll(coverage->bits[1]);
    const pt_u64 covered = granules << (GRANULE_LOG2 + coverage->granule_step);
    return covered < coverage->end_bytes ? covered : coverage->end_bytes;
}

struct pt_coverage pt_coverage_of_both(struct pt_coverage a, struct pt_coverage b)
{
    while (a.granule_step < b.granule_step)
        coarsen(&a);
    while (b.granule_step < a.granule_step)
        coarsen(&b);
    a.bits[0] |= b.bits[0];
    a.bits[1] |= b.bits[1];
    a.end_bytes = a.end_bytes > b.end_bytes ? a.end_bytes : b.end_bytes;
    return a;
}
