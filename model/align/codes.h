/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/codes.h
 *
 * Codes for the two sides of a comparison, and for how their operations and objects belong
 * together.  Results store these numbers (schemas/compare.sql), and sides as side_code.
 */
#ifndef NFSDIGEST_ALIGN_CODES_H
#define NFSDIGEST_ALIGN_CODES_H

/* The reference and the system under test. */
enum { REF = 0, SUT = 1, SIDES = 2 };
/* Sides as results store them. */
enum side_code { SIDE_BOTH = 0, SIDE_REF = REF + 1, SIDE_SUT = SUT + 1 };

enum align_kind { ALIGN_PAIR = 1, ALIGN_ONE_SIDED = 2, ALIGN_PART = 3 };

/* Why an operation has no counterpart. */
enum align_reason {
    REASON_NONE = 0,
    REASON_NOT_ASKED = 1, /* the other server did not get this request at this point */
    REASON_NO_OBJECT,     /* its object was not found on the other side */
    REASON_NO_CLIENT,     /* its client was not found on the other side */
    REASON_NO_CALL,       /* its call was not captured */
    REASON_NO_TABLE,      /* its program is unknown, or its arguments are not readable */
    /* if operations name their counterparts: */
    REASON_NO_NUMBER,      /* it names none */
    REASON_UNKNOWN_NUMBER, /* the other side has no such operation */
    REASON_REPEATED,       /* another one with the same counterpart was answered later */
    REASON_OTHER_COPY,     /* it belongs to a copy of the trace that is not compared */
    REASON_DOUBTFUL,       /* several like requests of the other server may be its counterpart */
    REASON_MAX
};

/* How objects were matched. */
enum match_how {
    MATCH_ROOT = 1, /* MOUNT */
    MATCH_PAIR,     /* found or made by operations that were aligned */
    MATCH_NAME,     /* the same name in directories that were matched */
    MATCH_FIRST,    /* the first request on them was the same */
    MATCH_MADE_UP,  /* the same handle, which one of the servers has never known */
    MATCH_MAX
};

#endif
