/* SPDX-License-Identifier: MIT
 *
 * burn.c - a program that knows what it did: CPU time in a known split between functions, in threads, in children.
 *
 *     burn split SECONDS        hot_half 50 %, hot_third 30 %, hot_fifth 20 %
 *     burn threads N SECONDS    thread i burns i * SECONDS / N; each prints "tid seconds" by its own clock
 *     burn forks N SECONDS      the same in children
 *     burn sleep SECONDS        burns half of it and sleeps half of it
 *     burn left SECONDS         hot_third in a second thread, after the first one has ended
 *     burn exec SECONDS         a second thread burns a tenth of it in hot_fifth and becomes `burn split SECONDS`
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A macro, so that each function is a leaf of its own. */
#define BURNER(name)                                                                                                   \
    __attribute__((noinline)) void name(double seconds)                                                                \
    {                                                                                                                  \
        uint64_t x = 1;                                                                                                \
        for (const double end_s = cpu_s() + seconds; cpu_s() < end_s;)                                                 \
            for (int i = 0; i < 20000; i++)                                                                            \
                x = x * 6364136223846793005ull + 1;                                                                    \
        sink += x;                                                                                                     \
    }

void hot_half(double);
void hot_third(double);
void hot_fifth(double);
BURNER(hot_half)
BURNER(hot_third)
BURNER(hot_fifth)

static void split(double seconds)
{
    for (int i = 0; i < 20; i++) {
        hot_half(seconds * .5 / 20);
        hot_third(seconds * .3 / 20);
        hot_fifth(seconds * .2 / 20);
    }
}

static void *run_thread(void *seconds)
{
    hot_half(*(double *)seconds);
    char line[64];
    const int n = snprintf(line, sizeof line, "%d %.6f\n", gettid(), cpu_s());
    return write(1, line, (size_t)n) == n ? NULL : seconds;
}

static void threads(int n, double seconds)
{
    pthread_t all[64];
    double each[64];
    for (int i = 0; i < n; i++) {
        each[i] = seconds * (i + 1) / n;
        pthread_create(&all[i], NULL, run_thread, &each[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(all[i], NULL);
}

static void forks(int n, double seconds)
{
    for (int i = 0; i < n; i++) {
        double each = seconds * (i + 1) / n;
        if (fork() == 0) {
            run_thread(&each);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
}

static void *be_left(void *seconds)
{
    usleep(100000);
    hot_third(*(double *)seconds);
    exit(0);
}

static void *become_another(void *argv)
{
    char *const *words = argv;
    hot_fifth(atof(words[2]) / 10);
    execl(words[0], words[0], "split", words[2], (char *)NULL);
    exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (!strcmp(what, "split"))
        split(atof(argv[2]));
    else if (!strcmp(what, "threads") && argc > 3)
        threads(atoi(argv[2]), atof(argv[3]));
    else if (!strcmp(what, "forks") && argc > 3)
        forks(atoi(argv[2]), atof(argv[3]));
    else if (!strcmp(what, "sleep")) {
        hot_half(atof(argv[2]) / 2);
        usleep((useconds_t)(atof(argv[2]) / 2 * 1e6));
    } else if (!strcmp(what, "left")) {
        static double seconds;
        pthread_t other;
        seconds = atof(argv[2]);
        pthread_create(&other, NULL, be_left, &seconds);
        pthread_exit(NULL);
    } else if (!strcmp(what, "exec")) {
        pthread_t other;
        pthread_create(&other, NULL, become_another, argv);
        pthread_join(other, NULL);
    } else
        return 2;
    printf("%d %.6f\n", gettid(), cpu_s());
    return 0;
}
