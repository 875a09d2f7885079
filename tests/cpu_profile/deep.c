/* SPDX-License-Identifier: MIT
 *
 * deep.c - deep recursion and inlined functions, with a known split: left_leaf 50 % below descend, half_way 20 % and
 * right_leaf 30 % below ping and pong, which call each other.   usage: deep SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20, DEPTH = 60 };

static volatile uint64_t sink;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Long between two looks at the clock: from within libc and the vDSO, which have no frame pointers, perf does not find
 * the function that called. */
static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 100000; i++)
        x = x * 6364136223846793005ull + 1;
    return x;
}

static inline __attribute__((always_inline)) void burn(double seconds)
{
    uint64_t x = 1;
    for (const double end_s = cpu_s() + seconds; cpu_s() < end_s;)
        x = mix(x);
    sink += x;
}

#define LEAF(name)                                                                                                     \
    __attribute__((noinline)) void name(double seconds)                                                                \
    {                                                                                                                  \
        burn(seconds);                                                                                                 \
    }
void left_leaf(double);
void half_way(double);
void right_leaf(double);
LEAF(left_leaf)
LEAF(half_way)
LEAF(right_leaf)

/* What is added after the call keeps it from being a jump. */
__attribute__((noinline)) static void descend(int depth, double seconds)
{
    if (depth)
        descend(depth - 1, seconds);
    else
        left_leaf(seconds);
    sink++;
}

static void pong(int depth, double seconds);

__attribute__((noinline)) static void ping(int depth, double seconds)
{
    if (depth == DEPTH / 2)
        half_way(seconds * .4);
    pong(depth - 1, seconds);
    sink++;
}

__attribute__((noinline)) static void pong(int depth, double seconds)
{
    if (depth > 0)
        ping(depth - 1, seconds);
    else
        right_leaf(seconds * .6);
    sink++;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    for (int i = 0; i < ROUNDS; i++) {
        descend(DEPTH, seconds / 2 / ROUNDS);
        ping(DEPTH, seconds / 2 / ROUNDS);
    }
    printf("%.6f\n", cpu_s());
    return 0;
}
