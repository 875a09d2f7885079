/* SPDX-License-Identifier: MIT
 * As large_blocks_remapped.c, in a thread that holds more at once than one heap of its arena has room for: an empty
 * heap goes back to the kernel whatever the thresholds are. The fixed variant has one arena for all, too. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 25, LAYERS = 30, BYTES = 6000 << 10 };

static void *train(void *unused)
{
    char *activations[LAYERS];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < LAYERS; i++)
            activations[i] = memset(malloc(BYTES), step, BYTES);
        for (int i = LAYERS; i-- > 0;)
            free(activations[i]);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, train, NULL) || pthread_join(thread, NULL);
}
