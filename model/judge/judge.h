/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge.h
 *
 * Checks if two servers answer the same requests alike.  A host gives pairs of operations one after
 * the other.  The judge compares their replies field by field under the rules (rules/rules.h).  For
 * each object it keeps which parts are not known to be the same on both sides, and why.  The host
 * learns of each difference, of each comparison that is withheld and the reason, and of each object
 * that becomes unsynchronized or is known again.
 *
 * Objects.  The host matches the objects of both sides and gives each pair of objects a number, its
 * row, from 1.  judge_add_object comes before the first pair that names a row.
 *
 * Order.  Pairs that concern one object come in one order, for example that of the reference's
 * calls.  An operation that only one side has (ALIGN_ONE_SIDED) comes at its place among them.
 * |change| of a pair (align/changes.h) says whether the same changes came before on both sides.
 *
 * Look-ahead.  Most of the judge needs only the current pair and nothing later.  In the comparison
 * of two traces, these look ahead.  A live host does this instead:
 *
 * overlap: Known when the operation has its reply (align/overlap.h).  A pair waits until both
 *   replies are there.
 * unanswered: Known when no reply can come any more.  A live host decides by time, and then gives
 *   the pair.
 * part: Further replies of a listing.  A live host keeps the pair that begins a listing until both
 *   listings have ended.  Or it gives the parts that it has; then names of one side are withheld.
 * changed_names: Names that were made or removed while a listing ran.  A change that was called
 *   before the listing's end may be answered after it.  A live host also names what is under way.
 * clock, sides: Offsets, errors and granularities are those of whole captures.  A live host sets
 *   what it knows so far (judge_set_side).  Until an offset is known, times may differ wrongly.
 * has_others: Includes handles that come later.  A live host adds the object again when it learns
 *   of another handle.
 *
 * Ownership.  The judge keeps no pointer into a pair after judge_pair.  Rules, places, the clock
 * map, steps and the table of callbacks belong to the host and live longer than the judge.  The
 * judge counts comparisons in the places (place.h).
 *
 * Memory: JUDGE_OBJECT_BYTES for each object; 32 for each byte range of it that is not known to be
 * the same, at most EXTENTS_MAX; about 70 for each handle and file number that a server sent of it,
 * and for each name of a directory that is not known to be the same.  judge_forget gives all of an
 * object back.  Values that belong to no object (verifiers, file systems, handles of unmatched
 * objects) take about 70 bytes each, at most |unowned_max| of them.  While a listing is compared,
 * all its replies.
 *
 * Errors.  Functions return a callback's negative code, -ERR_SYSTEM without memory, or -ERR_INPUT
 * for a row that was not added.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_H
#define NFSDIGEST_JUDGE_JUDGE_H

#include "align/changes.h"
#include "align/overlap.h"
#include "judge/judge_body.h"
#include "judge/clock.h"
#include "judge/difference.h"
#include "judge/steps.h"

enum { JUDGE_OBJECT_BYTES = 512, EXTENTS_MAX = 256 };

/* One side of a pair: an operation.  It must be all zeros before its first use; call
 * judge_clear_half before each further use.  The judge reads |result|; the host fills in everything
 * else.  Ids of effects rise in the order of calls.  Pointers must be valid until judge_pair
 * returns, or until the next |part|. */
struct judge_half {
    struct effect effect; /* id 0: this side has none */
    struct {
        uint32_t object, parent2, new_object;
    } row;                         /* rows of the effect's objects; 0: not matched */
    struct bytes data_digest;      /* digest of contents */
    int64_t call_time, reply_time; /* ns; INT64_MIN: none */
    bool answered;
    /* where it was captured; only the host uses this */
    int64_t xid, call_source, call_frame, reply_source, reply_frame;

    struct body result; /* of a reply with RPC_SUCCESS and a known table; |places| NULL: none */
    bool malformed;
};

struct judge_pair {
    int64_t id;       /* the host's; not 0 */
    int kind;         /* ALIGN_PAIR, ALIGN_ONE_SIDED */
    uint32_t object;  /* row of the request's object, or 0 */
    uint32_t overlap; /* OVERLAP_ and CONFLICT_ bits of both sides */
    struct judge_half half[SIDES];
    /* By enum change_state: the difference between the sides before the request, for example ref's
     * sum minus sut's.  Equal histories must have equal numbers.  0: the same changes came before
     * it. */
    int64_t change[CHANGE_STATES];
    /* Both are 1 << enum whose, and only of live hosts and of their logs.  This object was not the
     * same before the request, for all that is known. */
    uint32_t not_same;
    uint32_t accessed; /* its access time can be another one (access.c) */
    bool made;         /* the object that was found or made is new on both sides */
    /* Of a log: the COUNTERPART_ bits (record.h) with COUNTERPART_LIVE, among them what
     * judge_left_open returned when the pair was logged. */
    uint32_t logged;
};

/* What the host knows about a pair of objects when it adds the pair. */
struct judge_object {
    uint32_t type; /* ftype3, or 0 */
    uint64_t fsid[SIDES];
    bool has_others; /* a side has several handles for it */
    bool remade;     /* made again on one side, and not changed since: its change times differ */
};

/* One server's clock. */
struct judge_side {
    int64_t first_time;                /* of its capture, ns */
    int64_t clock_offset, clock_error; /* from its capture's clock, ns */
    int64_t granularity;               /* of its finest time, ns */
    struct steps *steps;               /* by file system; the host's */
};

/* A part of an object that is no longer known to be the same. */
struct judge_loss {
    uint32_t object; /* row */
    enum unsynchronized_what what;
    enum withheld_reason reason;
    struct bytes name;   /* UNSYNC_NAME: in the directory |object| */
    uint64_t start, end; /* UNSYNC_DATA */
};

/* Takes names of changed_names. */
struct judge_names {
    int (*add)(void *ctx, const char *name, struct err *err);
    void *ctx;
};

/* Takes operations of |earlier|.  |digest|: digest of the operation's contents. */
struct judge_earlier {
    int (*take)(void *ctx, const struct effect *effect, struct bytes digest);
    void *ctx;
};

/* Callbacks return 0, or a negative code that judge_pair returns.  Callbacks that look ahead, or
 * further back than the judge's memory, may be NULL. */
struct judge_host {
    /* Returns the row of the object of a handle in the reply of |half|, or 0.  |entry|: the name
     * beside it in a listing; else empty. */
    int (*object_of)(void *ctx, int side, const struct judge_half *half, struct bytes handle,
                     struct bytes entry, uint32_t *row, struct err *err);
    int (*differ)(void *ctx, const struct judge_pair *pair, const struct difference *difference,
                  struct err *err);
    /* A comparison was withheld.  |place| NULL: that of a whole operation.  |difference|: the
     * difference of a status, contents or a reply that is withheld; else NULL. */
    int (*withhold)(void *ctx, const struct judge_pair *pair, enum withheld_reason reason,
                    const struct place *place, const struct difference *difference,
                    struct err *err);
    /* An object became unsynchronized after this pair.  *|id|: the host's number for it, not 0. */
    int (*lost)(void *ctx, const struct judge_pair *pair, const struct judge_loss *loss,
                int64_t *id, struct err *err);
    /* The object is the same again after this pair.  |id|: the number from |lost|. */
    int (*known)(void *ctx, const struct judge_pair *pair, int64_t id, struct err *err);
    /* |withheld| further comparisons were withheld because of it. */
    int (*count)(void *ctx, int64_t id, uint64_t withheld, struct err *err);

    /* Says why |side| of the pair has no reply.  Returns 0 if the server gave none, a
     * withheld_reason, or a negative code.  NULL: WITHHELD_LOST. */
    int (*unanswered)(void *ctx, const struct judge_pair *pair, int side, struct err *err);
    /* Gives reply |number| (from 0) of |side| that continues the listing of the pair.  |half| is
     * zero before.  Returns 1, 0 if there is no such reply, or a negative code.  NULL: there are
     * none. */
    int (*part)(void *ctx, const struct judge_pair *pair, int side, uint32_t number,
                struct judge_half *half, struct err *err);
    /* Calls |add| with each name, as escape_name (base/escape.h) writes it, that was made in or
     * removed from the pair's directory while |side| listed it, in |times| (begin and end).  NULL:
     * there are none. */
    int (*changed_names)(void *ctx, const struct judge_pair *pair, int side, const int64_t times[2],
                         const struct judge_names *to, struct err *err);
    /* Returns 1 if a name of the object |row| was removed on |side| during |times| (begin and end),
     * else 0, or a negative code.  |row| 0: a name of an unknown object.  NULL: 1. */
    int (*removed)(void *ctx, int side, uint32_t row, const int64_t times[2], struct err *err);
    /* Calls |take| for earlier operations of |side| on the pair's object, the latest one first.
     * Stops when |take| does not return 0.  NULL: nothing is known about earlier operations. */
    int (*earlier)(void *ctx, const struct judge_pair *pair, int side,
                   const struct judge_earlier *to, struct err *err);
    /* Writes the path of an object, or "". */
    int (*path_of)(void *ctx, uint32_t row, char text[COMPARE_TEXT_MAX], struct err *err);
};

struct judge_setup {
    const struct rules *rules;
    struct places_set *places; /* made with these rules; shared with other readers of messages */
    const struct clock_map *clock; /* between the captures; may have no anchors */
    const struct judge_host *host;
    void *ctx;            /* the callbacks' first argument */
    uint32_t unowned_max; /* 0: no bound */
    bool remade; /* a side's tree was made again: nobody can set the change times of its objects */
    bool partly; /* only some objects were made the same: those whose handles object_of knows.  What
                  * entries of listings say of others is withheld */
};

struct judge *judge_new(const struct judge_setup *setup, struct err *err);
void judge_free(struct judge *judge); /* NULL is allowed */

void judge_set_side(struct judge *judge, int side, const struct judge_side *what);

/* Adds the pair of objects |row|, or updates it.  Type and file systems count only if the row is
 * new.  Rows should be small numbers: the largest one decides the memory. */
int judge_add_object(struct judge *judge, uint32_t row, const struct judge_object *object,
                     struct err *err);

/* Returns true if no pair has changed the object since it was added as remade. */
bool judge_is_remade(const struct judge *judge, uint32_t row);

/* The object is the same on both sides, whatever came before; values that belong together stay
 * known.  |remade|: as in struct judge_object. */
void judge_renew(struct judge *judge, uint32_t row, bool remade);

/* Drops the state of an object and of names in it, without a callback.  The row may then be given
 * to another object.  Memory is used again. */
void judge_forget(struct judge *judge, uint32_t row);

/* Returns true if the object's access times can be others, as somebody may have read it since they
 * were set to the same: access.c.  A live host gives this as |accessed| of a pair. */
bool judge_is_accessed(const struct judge *judge, uint32_t row);
/* Notes that somebody read the object, without a pair that says so, until |until| (ns; 0: not on
 * this side). */
void judge_note_access(struct judge *judge, uint32_t row, const int64_t until[SIDES]);

/* Notes when both sides did something to an object that is none of the pair's: |times| are call and
 * reply.  Its change times can be those of this request (a server need not set them by a RENAME).
 */
void judge_note_change(struct judge *judge, uint32_t row, const int64_t times[SIDES][2]);

/* Two requests that were under way at the same time set times of the object: these are withheld
 * until another one alone sets them, or until judge_renew (open_times.c). */
void judge_note_open_times(struct judge *judge, uint32_t row);
bool judge_has_open_times(const struct judge *judge, uint32_t row);

/* Until |time| (ns, of the captures' clock) the host itself gave names to objects of SUT, or took
 * them away: their change times there say nothing. */
void judge_note_unsettled(struct judge *judge, int64_t time);

/* Returns what the judge knew about the last pair that the pair alone does not show, as
 * COUNTERPART_ bits (record.h): what it did not compare, or found the same, for the sake of earlier
 * pairs.  Who reads a log of a live host does not have these: the host notes the bits there, and
 * the reader gives them as |logged|. */
uint32_t judge_left_open(const struct judge *judge);

/* Compares a pair and notes its changes.  Further parts of a listing replace |pair->half| while
 * they are compared. */
int judge_pair(struct judge *judge, struct judge_pair *pair, struct err *err);

/* Counts the comparisons withheld because of names that are still not known to be the same. */
int judge_finish(struct judge *judge, struct err *err);

/* judge_clear_half sets a half to zeros but keeps its body's memory.  judge_free_half also frees
 * that. */
void judge_clear_half(struct judge_half *half);
void judge_free_half(struct judge_half *half);

#endif
