/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/others.h
 *
 * Calls of other shadows that watch the same relay: they read the reference through it, too, to
 * synchronize their own SUTs.  Each has told the relay a mark, which its calls carry
 * (relay/relay_entry.h).  They are no requests of clients, so the SUT does not get them, and they
 * are counted apart.  But the reference executes them: attributes in their replies are learned, and
 * reading changes access times.
 *
 * Only procedures that read are taken for theirs.  Whatever a client sends with a mark that it has
 * got hold of, changes are still a client's, and all else shows in the count.
 */
#ifndef NFSDIGEST_SHADOW_OTHERS_H
#define NFSDIGEST_SHADOW_OTHERS_H

#include "record/record.h"
#include "relay/relay_marks.h"

enum { OTHERS_FLOWS = 64 };

/* Marks; and flows whose latest call had one, by number, 0: none. */
struct others {
    struct relay_marks marks;
    uint32_t flows[OTHERS_FLOWS];
};

struct message;
struct shadow;

/* Of the tap: calls with this mark are not those of clients. */
int others_mark(void *ctx, const uint8_t *mark, struct err *err);
/* Returns 1, and counts the call, if it is one of theirs; 0; or a negative code. */
int others_called(struct shadow *s, const struct message *call, struct err *err);
/* The latest call on the flow was. */
bool others_reply(const struct shadow *s, uint32_t flow);
/* The reference has answered a call that is not a client's. */
int others_operation(struct shadow *s, const struct record_operation *operation, struct err *err);

#endif
