/* SPDX-License-Identifier: MIT
 *
 * crash.c - one thread waits, and the other one reads what is not there.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) static int divide(const volatile int *number)
{
    return *number + 1;
}

__attribute__((noinline)) static int average(const volatile int *numbers)
{
    return divide(numbers) + 1;
}

static void *work(void *numbers)
{
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    printf("%d\n", average(numbers));
    return NULL;
}

__attribute__((noinline)) static int wait_for(pthread_t thread)
{
    return pthread_join(thread, NULL) + 1;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return wait_for(thread);
}
