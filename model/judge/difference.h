/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/difference.h
 *
 * The results of a comparison: kinds of differences, and reasons why a comparison is withheld.  The
 * numbers are in results (schemas/compare.sql).
 */
#ifndef NFSDIGEST_JUDGE_DIFFERENCE_H
#define NFSDIGEST_JUDGE_DIFFERENCE_H

#include "align/codes.h"

#include <stdbool.h>
#include <stdint.h>

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
    WITHHELD_OVERLAP = 1,  /* another request that changes the same thing was under way */
    WITHHELD_CONFLICT,     /* after two such requests, until the state is known again */
    WITHHELD_ONE_SIDED,    /* after a change on one side only */
    WITHHELD_ORDER,        /* different changes came before on the two sides */
    WITHHELD_OUTCOME,      /* after a change that succeeded on one side only */
    WITHHELD_LISTING,      /* one side did not list the whole directory */
    WITHHELD_CHANGING,     /* entries that were made or removed during the listing */
    WITHHELD_STATUS,       /* replies with different statuses have different fields */
    WITHHELD_LENGTH,       /* contents of different length */
    WITHHELD_VERIFIER,     /* times that hold the verifier of an exclusive create */
    WITHHELD_READ,         /* access times, after reads that the sides may not share */
    WITHHELD_CUT,          /* not captured as a whole */
    WITHHELD_NO_REPLY,     /* neither side has a reply */
    WITHHELD_CAPTURE_END,  /* a call soon before the capture ends has no reply */
    WITHHELD_NOT_REPEATED, /* a call over UDP has no reply, and was not sent again */
    WITHHELD_LOST,         /* the capture lost the reply of one side */
    WITHHELD_UNHEARD,      /* no reply to any call of the connection was captured */
    WITHHELD_SMALL_HOLE,   /* the capture lost fewer bytes than the replies that it lacks have */
    WITHHELD_NOT_SAME,     /* the object was never made the same on both sides */
    WITHHELD_MAX
};

enum unsynchronized_what { UNSYNC_ATTRIBUTES = 1, UNSYNC_DATA, UNSYNC_NAME, UNSYNC_MAX };

/* Further conditions of an explanation, besides the field. */
enum difference_case {
    CASE_ANY,
    CASE_DIRECTORY,    /* a link count of a directory */
    CASE_NO_DIRECTORY, /* a link count of something else */
    CASE_ASKED,        /* a mode that the request gives for the new object */
    CASE_NOT_ASKED,    /* a mode that the request does not give */
    CASE_MAX
};

struct compare_rule;
struct judge_half;
struct place;

/* Pointers are valid during the call that passes the difference. */
struct difference {
    enum difference_kind kind;
    enum difference_case when;
    const struct place *place; /* NULL: no field */
    const char *field;         /* if there is no place */
    const struct compare_rule *rule;
    uint32_t object;     /* row, or 0 */
    const char *element; /* name or number of the element of a list; or NULL */
    const char *what;    /* a few words; similar differences have the same */
    const char *text[SIDES];
    bool has_number;
    uint64_t number[SIDES];
    const struct judge_half *half[SIDES]; /* the halves with the replies that differ */
};

#endif
