/* SPDX-License-Identifier: MIT
 *
 * nearest.c - Owns: how similar two names are. Threads: any. Never: allocates; finds a name of more than 40 bytes
 * similar to another.
 */
#include "nearest.h"

#include <stdbool.h>
#include <string.h>

/* Insertions, deletions, substitutions and swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t rows[3][LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = above[j] + 1 < row[j] ? above[j] + 1 : row[j];
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

const char *pt_nearest_name(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 2;
    for (; *candidates; candidates++) {
        const size_t length = strlen(word);
        const size_t distance =
            length >= 3 && !strncmp(*candidates, word, length) ? 1 : edit_distance(word, *candidates);
        if (distance < best) {
            best = distance;
            nearest = *candidates;
        }
    }
    return nearest;
}
