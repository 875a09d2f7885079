/* SPDX-License-Identifier: MIT
 *
 * perfetto/packet.h - the numbers of the fields of Perfetto's trace format that we write, as in its trace_packet.proto,
 * track_event.proto and track_descriptor.proto.
 */
#ifndef PT_EXPORT_PERFETTO_PACKET_H
#define PT_EXPORT_PERFETTO_PACKET_H

#include "export/out/proto.h"

enum { PT_TRACE_PACKET = 1 };

enum pt_packet_field {
    PT_PACKET_CLOCK_SNAPSHOT = 6,
    PT_PACKET_TIMESTAMP = 8,
    PT_PACKET_SEQUENCE = 10,
    PT_PACKET_TRACK_EVENT = 11,
    PT_PACKET_INTERNED_DATA = 12,
    PT_PACKET_SEQUENCE_FLAGS = 13, /* 1 = numbers of texts begin anew */
    PT_PACKET_TRACK_DESCRIPTOR = 60
};

enum pt_event_field_number {
    PT_TRACK_EVENT_CATEGORY = 3,
    PT_TRACK_EVENT_ANNOTATION = 4,
    PT_TRACK_EVENT_TYPE = 9,
    PT_TRACK_EVENT_NAME = 10,
    PT_TRACK_EVENT_TRACK = 11,
    PT_TRACK_EVENT_INTEGER = 30, /* of a counter */
    PT_TRACK_EVENT_DOUBLE = 44,
    PT_TRACK_EVENT_FLOW = 47
};

enum pt_track_event_type { PT_TRACK_BEGIN = 1, PT_TRACK_END = 2, PT_TRACK_INSTANT = 3, PT_TRACK_COUNTER = 4 };

enum pt_annotation_field {
    PT_ANNOTATION_KEY = 1,
    PT_ANNOTATION_UNSIGNED = 3,
    PT_ANNOTATION_SIGNED = 4,
    PT_ANNOTATION_TEXT = 6,
    PT_ANNOTATION_POINTER = 7,
    PT_ANNOTATION_TEXT_NUMBER = 17
};

enum pt_descriptor_field {
    PT_DESCRIPTOR_UUID = 1,
    PT_DESCRIPTOR_NAME = 2,
    PT_DESCRIPTOR_PROCESS = 3, /* pid 1, order 3, name 6, labels 8 */
    PT_DESCRIPTOR_THREAD = 4,  /* pid 1, tid 2, order 3, name 5 */
    PT_DESCRIPTOR_PARENT = 5,
    PT_DESCRIPTOR_COUNTER = 8, /* unit 3 */
    PT_DESCRIPTOR_CHILD_ORDER = 11,
    PT_DESCRIPTOR_RANK = 12
};

/* All packets belong to one sequence, except those that name tracks: the viewer would think that everything in the
 * sequence of a thread's name, and on no thread's track, came from that thread. */
static inline char *pt_perfetto_sequence(char *at)
{
    return pt_proto_u64(at, PT_PACKET_SEQUENCE, 1);
}

static inline char *pt_perfetto_naming_sequence(char *at)
{
    return pt_proto_u64(at, PT_PACKET_SEQUENCE, 2);
}

#endif
