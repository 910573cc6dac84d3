/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/frames.h"

#include <stddef.h>

#define AT(member) offsetof(struct record, member)

static const uint16_t fields[RECORD_KIND_MAX][RECORD_FRAMES_MAX] = {
    [RECORD_FLOW] = { AT(flow.frame) },
    [RECORD_OBJECT] = { AT(object.frame) },
    [RECORD_OPERATION] = { AT(operation.call.frame), AT(operation.call.first_frame),
                           AT(operation.reply.frame), AT(operation.reply.first_frame) },
    [RECORD_REPEAT] = { AT(repeat.sighting.frame), AT(repeat.sighting.first_frame) },
    [RECORD_PROBLEM] = { AT(problem.frame) },
    [RECORD_CONNECTION_EVENT] = { AT(connection_event.frame), AT(connection_event.last_frame) },
};

int record_frames(struct record *r, uint64_t *frames[RECORD_FRAMES_MAX])
{
    int count = 0;

    while (r->kind < RECORD_KIND_MAX && count < RECORD_FRAMES_MAX && fields[r->kind][count]) {
        frames[count] = (void *)((char *)r + fields[r->kind][count]);
        count++;
    }
    return count;
}
