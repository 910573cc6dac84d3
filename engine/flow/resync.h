/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/resync.h
 *
 * Which of the marks that a search found are true.  Contents of files hold marks as well, so a
 * mark that leads to further ones is not enough.
 *
 * A message is believed when its other half was captured: a reply that came later on the
 * connection and that no other call takes, or a call that waits; when the one reads as the result
 * of the other (fits.h); and not for one alone among several in a row that have none.  Nothing is
 * believed of which the XID has its message already, or that a message follows of which that is so:
 * files may hold traffic that is numbered like the connection's.  All that follows what is believed
 * is in its known place then.  A call sent again is believed when it was answered more often than
 * it was seen, and a reply when it was answered less often: clients send again at once what was
 * refused.
 *
 * Without the other half a mark waits for it, up to RESYNC_SPAN behind its end.  Then it is
 * believed if its XID fits in with those of the connection (they count up, in either byte order)
 * and was not used before, and it begins or ends with a segment, or leads to another one; or if it
 * is all of the first segment that was captured.  On a connection of which nothing else is known
 * (only one direction was captured, from its middle on), both or one and a further mark must hold.
 * All other messages are not made, and their bytes are counted as undecided.
 */
#ifndef NFSDIGEST_FLOW_RESYNC_H
#define NFSDIGEST_FLOW_RESYNC_H

#include "flow/framer.h"

#define RESYNC_SPAN INT64_C(1000000000) /* ns; less than replies wait for their calls */

/* Reads on in known places: framer.c. |used| says how many bytes were taken, all of them unless the
 * framing was lost, and then the record that was being read is in f->marks. */
int framer_consume(struct framer *f, struct bytes data, struct seen seen, uint32_t *used,
                   struct err *err);
/* What framer_gap does while the framing is not lost. */
int framer_hole(struct framer *f, uint64_t len, uint32_t flag, struct seen seen, struct err *err);

/* A message with |xid| was delivered: the other direction may wait for it. */
void resync_seen(struct framer *f, uint32_t xid, bool call, uint64_t frame);

/* Looks for marks, believes or drops them, and delivers.  |over|: the stream ends here. */
int resync_work(struct framer *f, bool over, struct seen seen, struct err *err);

/* Puts the problems for the bytes that were passed over. */
int resync_count(struct framer *f, struct seen seen, struct err *err);

#endif
