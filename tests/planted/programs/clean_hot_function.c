/* SPDX-License-Identifier: MIT
 *
 * One function computes nearly all the time: nothing is wrong, but the report says where. */
#include <stdio.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void slow_transform(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink ^= i * i;
}

__attribute__((noinline)) static void cheap(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}

int main(void)
{
    for (int i = 0; i < 40; i++) {
        slow_transform(20 * 1000 * 1000);
        cheap(300 * 1000);
    }
    return !printf("%lu\n", sink);
}
