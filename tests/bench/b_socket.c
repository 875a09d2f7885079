/* SPDX-License-Identifier: MIT
 *
 * b_socket.c - N2: a small message sent and received over a TCP connection of the loopback, both ends in this thread
 * and without waiting.   usage: b_socket [MESSAGES]
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

static int connection(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, bytes) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &bytes))
        return -1;
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (ends[0] < 0 || connect(ends[0], (const struct sockaddr *)&address, bytes))
        return -1;
    ends[1] = accept(listener, NULL, NULL);
    return ends[1] < 0 ? -1 : setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int exchange(const int ends[2], long messages)
{
    char bytes[64] = "message";
    for (long i = 0; i < messages; i++)
        if (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) != sizeof bytes ||
            recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT) != sizeof bytes)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    const long messages = bench_argument(argc, argv, 1, 200000);
    int ends[2];
    if (connection(ends) || exchange(ends, 1000))
        return 3;
    const struct bench from = bench_now();
    if (exchange(ends, messages))
        return 4;
    bench_print(from, (uint64_t)messages);
    return 0;
}
