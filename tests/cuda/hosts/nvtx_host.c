/* SPDX-License-Identifier: MIT
 *
 * A program that is annotated with NVTX: argv[1] says what it does. Built twice, on NVIDIA's header where that is
 * installed and on nvtx_loader.h everywhere.
 */
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifdef WITH_NVTX_HEADER
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_loader.h"
#endif

static nvtxEventAttributes_t message(const char *text)
{
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = text;
    return a;
}

static void *end_there(void *id)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    return NULL;
}

/* Prints what a program can see: the depths are the same without a tool. */
static void all(void)
{
    nvtxDomainHandle_t data = nvtxDomainCreateA("data"), again = nvtxDomainCreateA("data");
    nvtxStringHandle_t decode = nvtxDomainRegisterStringA(data, "decode");
    nvtxEventAttributes_t plain = message("plain"), registered = message(NULL), none = {0};
    registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    registered.message.registered = decode;
    nvtxRangeId_t span;
    pthread_t thread;
    char text[] = "reused buffer";
    printf("%d", nvtxRangePushA("step"));
    printf(" %d", nvtxRangePushA(text));
    text[0] = 'R'; /* the text was copied at the call */
    printf(" %d", nvtxDomainRangePushEx(data, &registered));
    printf(" %d", nvtxDomainRangePushEx(again, &plain));
    nvtxDomainMarkEx(data, &plain);
    printf(" %d", nvtxDomainRangePop(again));
    printf(" %d", nvtxDomainRangePop(data));
    printf(" %d", nvtxRangePop());
    printf(" %d\n", nvtxRangePop());
    nvtxRangePushW(L"Gr\u00f6\u00dfe \u4e2d \U0001F600");
    nvtxRangePop();
    nvtxRangePushEx(&none); /* no message, size 0 */
    nvtxRangePop();
    nvtxRangePushA(NULL);
    nvtxRangePop();
    nvtxMarkA("here");
    nvtxMarkEx(&plain);
    nvtxNameOsThreadA(1, "nobody");
    span = nvtxRangeStartA("span");
    pthread_create(&thread, NULL, end_there, &span);
    pthread_join(thread, NULL);
    span = nvtxDomainRangeStartEx(data, &plain);
    nvtxDomainRangeEnd(data, span);
    nvtxDomainDestroy(data);
}

static void *push_many(void *name)
{
    for (int i = 0; i < 20000; i++) {
        nvtxRangePushA(name);
        nvtxRangePop();
    }
    return NULL;
}

static void threads(void)
{
    static char names[8][16];
    pthread_t thread[8];
    for (int i = 0; i < 8; i++) {
        sprintf(names[i], "thread %d", i);
        pthread_create(&thread[i], NULL, push_many, names[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

/* More domains and names than anybody makes, and long ones. */
static void crowds(void)
{
    char *name = malloc(100000);
    for (int i = 0; i < 500; i++) {
        nvtxEventAttributes_t a = message("in a crowd");
        sprintf(name, "domain %d", i);
        nvtxDomainHandle_t d = nvtxDomainCreateA(name);
        nvtxDomainRangePushEx(d, &a);
        nvtxDomainRangePop(d);
    }
    memset(name, 'n', 99999);
    name[99999] = 0;
    nvtxDomainCreateA(name);
    nvtxMarkA(name);
    free(name);
}

static void in_child(const char *self)
{
    nvtxRangePushA("parent");
    fflush(stdout);
    if (!fork()) {
        nvtxRangePushA("forked");
        nvtxRangePop();
        execl(self, self, "mark", "executed", NULL);
        _exit(1);
    }
    wait(NULL);
    nvtxRangePop();
}

static void measure(void)
{
    struct timespec from, to;
    double best = 1e9;
    nvtxRangePushA("warm");
    nvtxRangePop();
    for (int round = 0; round < 2000; round++) { /* short: the best of them meets no full buffer */
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < 200; i++) {
            nvtxRangePushA("measured");
            nvtxRangePop();
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 200;
        best = ns < best ? ns : best;
    }
    printf("%.1f\n", best);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    if (!strcmp(what, "all"))
        all();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "crowds"))
        crowds();
    else if (!strcmp(what, "child"))
        in_child(argv[0]);
    else if (!strcmp(what, "mark") && argc > 2)
        nvtxMarkA(argv[2]);
    else if (!strcmp(what, "measure"))
        measure();
    return 0;
}
