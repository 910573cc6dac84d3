/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/difference.h
 *
 * What a comparison comes to: kinds of differences, and why it says nothing where it says nothing.
 * The numbers are in results (schemas/compare.sql).
 */
#ifndef NFSDIGEST_JUDGE_DIFFERENCE_H
#define NFSDIGEST_JUDGE_DIFFERENCE_H

enum { COMPARE_TEXT_MAX = 256 }; /* bytes of a value's text */

enum difference_kind {
    KIND_RPC = 1,
    KIND_REPLY,
    KIND_STATUS,
    KIND_VALUE,
    KIND_PRESENCE,
    KIND_TIME,
    KIND_ORDER,
    KIND_ENTRY,
    KIND_PATTERN,
    KIND_COUNT,
    KIND_RETRANSMISSION,
    KIND_DISCONNECT,
    KIND_MALFORMED,
    KIND_OTHER_REPLIES,
    KIND_MAX
};

enum withheld_reason {
    WITHHELD_OVERLAP = 1,  /* another request that changes the same was under way */
    WITHHELD_CONFLICT,     /* after two such requests, until known again */
    WITHHELD_ONE_SIDED,    /* after a change on one side only */
    WITHHELD_ORDER,        /* not the same changes came before on both sides */
    WITHHELD_OUTCOME,      /* after a change that succeeded on one side only */
    WITHHELD_LISTING,      /* of a directory of which one side was not listed as a whole */
    WITHHELD_CHANGING,     /* entries that were made or taken away while it was listed */
    WITHHELD_STATUS,       /* replies with different statuses have different fields */
    WITHHELD_LENGTH,       /* contents of different length */
    WITHHELD_VERIFIER,     /* times that hold the verifier of an exclusive create */
    WITHHELD_READ,         /* access times, after contents were read on one side only */
    WITHHELD_CUT,          /* not captured as a whole */
    WITHHELD_NO_REPLY,     /* neither side has a reply */
    WITHHELD_CAPTURE_END,  /* a call soon before the capture ends has no reply */
    WITHHELD_NOT_REPEATED, /* a call over UDP has no reply, and was not sent again */
    WITHHELD_LOST,         /* the capture lost the reply of one side */
    WITHHELD_UNHEARD,      /* no reply to any call of the connection was captured */
    WITHHELD_SMALL_HOLE,   /* the capture lost fewer bytes than the replies that it lacks have */
    WITHHELD_MAX
};

enum unsynchronized_what { UNSYNC_ATTRIBUTES = 1, UNSYNC_DATA, UNSYNC_NAME, UNSYNC_MAX };

#endif
