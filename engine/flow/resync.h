/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/resync.h
 *
 * Decides which of the marks that a search found are true.  Contents of files can hold marks as
 * well, so it is not enough that a mark leads to further ones.
 *
 * A message is believed if its other half was captured and the one reads as the result of the other
 * (fits.h).  The other half is a reply that came later on the connection and that no other call
 * takes, or a call that waits.  Exceptions:
 * - One such message alone among several in a row that have no other half is not believed.
 * - A message is not believed if another message already has its XID, or if that is so for a
 *   message that follows it: files may hold traffic with the XIDs of the connection.
 * Once a message is believed, all messages after it are in their expected places.
 *
 * A call that was sent again is believed if it was answered more often than it was seen, and a
 * reply if it was answered less often, because clients send again at once what was refused.
 *
 * A mark without its other half waits for it, for up to RESYNC_SPAN after its end.  Then it is
 * believed if its XID fits those of the connection (they count up, in either byte order) and was
 * not used before, and if one of these holds: it begins or ends with a segment; it leads to another
 * such mark; it fills the first segment that was captured.  On a connection of which nothing else
 * is known (only one direction was captured, from its middle on), both must hold, or one and a
 * further mark.
 *
 * On a connection that was joined (framer.h), a call does not wait if it begins with the first byte
 * that came, ends with the last one, and reads well: what it does to the server may show elsewhere
 * long before its reply.
 *
 * No other messages are made.  Their bytes are counted as undecided.
 */
#ifndef NFSDIGEST_FLOW_RESYNC_H
#define NFSDIGEST_FLOW_RESYNC_H

#include "flow/framer.h"

#define RESYNC_SPAN INT64_C(1000000000) /* ns; less than replies wait for their calls */

/* Reads bytes while the framing is known (framer.c).  |used| becomes the number of bytes taken.  If
 * it is less than all of them, the framing was lost, and f->marks has the record being read. */
int framer_consume(struct framer *f, struct bytes data, struct seen seen, uint32_t *used,
                   struct err *err);
/* Passes over |len| missing bytes, as framer_gap, while the framing is known. */
int framer_hole(struct framer *f, uint64_t len, uint32_t flag, struct seen seen, struct err *err);

/* Notes that a message with |xid| was delivered.  The other direction may wait for it. */
void resync_seen(struct framer *f, uint32_t xid, bool call, uint64_t frame);

/* Looks for marks, decides which are true, and delivers their messages.  |over|: the stream ends
 * here. */
int resync_work(struct framer *f, bool over, struct seen seen, struct err *err);

/* Reports the bytes that were passed over as problems. */
int resync_count(struct framer *f, struct seen seen, struct err *err);

#endif
