/* SPDX-License-Identifier: MIT
 *
 * b_decode.c - reads all events of a run and does nothing with them: the speed of decoding and merging.   usage:
 * b_decode RUN
 */
#include "merge/feed.h"
#include "model/session.h"
#include "util/auto.h"
#include "bench.h"

int main(int argc, char **argv)
{
    struct pt_error err = {0};
    const struct pt_filter everything = {0};
    PT_AUTO(pt_session_closep) struct pt_session *session = pt_session_open(argc > 1 ? argv[1] : NULL, &err);
    if (!session) {
        fprintf(stderr, "b_decode: %s\n", err.text);
        return 3;
    }
    const struct bench from = bench_now();
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &everything, &err);
    struct pt_event event;
    uint64_t events = 0;
    int more = -1;
    while (feed && (more = feed->next(feed, &event, &err)) > 0)
        events++;
    if (more < 0) {
        fprintf(stderr, "b_decode: %s\n", err.text);
        return 3;
    }
    bench_print(from, events);
    return 0;
}
