/* SPDX-License-Identifier: MIT
 * A training step in small: activations of many megabytes are allocated, filled and freed, step after step. malloc
 * gives them back to the kernel each time; with the fixed variant's environment it keeps them. */
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, LAYERS = 30, LARGEST_BYTES = 6 << 20 };

int main(void)
{
    char *activations[LAYERS];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < LAYERS; i++) {
            const size_t bytes = (size_t)LARGEST_BYTES / (size_t)(1 + i % 5);
            activations[i] = malloc(bytes);
            memset(activations[i], step, bytes);
        }
        for (int i = LAYERS; i-- > 0;)
            free(activations[i]);
    }
    return 0;
}
