/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_parts.h
 *
 * Shared by the files of the judge: its state, and its calls of the host.  sync.h keeps the state
 * of objects, and judge_fields.h compares replies.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_PARTS_H
#define NFSDIGEST_JUDGE_JUDGE_PARTS_H

#include "judge/judge.h"
#include "judge/patterns.h"
#include "record/record.h"

/* Byte ranges of a file that are not known to be the same.  They are separate and in order.
 * |id|: the host's id of the loss.  At most EXTENTS_MAX: above that, neighbours are joined. */
struct extent {
    uint64_t start, end;
    int64_t id;
    uint8_t reason; /* enum withheld_reason */
};
struct extents {
    struct extent *extents;
    uint32_t count;
};

/* The last times that a server sent for an object.  |at|: when it sent them, in its capture's time;
 * INT64_MAX: the object was changed since, or there are none.  |changed|: the time of the last
 * change; INT64_MIN: never. */
struct last_times {
    int64_t mtime, ctime, at, changed;
    bool is_open; /* another change was under way: these may not be the last ones */
};

/* A file number that a server sent for an object in a request from |from| to |to|. */
struct shown_number {
    uint64_t fsid, fileid;
    int64_t from, to;
};

/* The state of a pair of objects. */
struct object_state {
    uint8_t lost;         /* 1 << UNSYNC_ATTRIBUTES */
    uint8_t reason;       /* enum withheld_reason, for attributes */
    uint8_t because;      /* likewise, for the last change that the sides do not share; 0: none */
    uint8_t set;          /* bits of |times| that are known: atime, mtime */
    bool verifier;        /* atime and mtime may hold the verifiers of an exclusive create */
    bool is_there;        /* the host added it */
    bool remade;          /* struct judge_object */
    bool has_others;      /* struct judge_object */
    bool read_alone;      /* only one side read it since access times were the same */
    bool accessed;        /* access.c */
    bool access_set;      /* |access| is known */
    bool numbered;        /* |number| is known */
    bool doubtful;        /* another object had its number, and one of them may have been removed */
    bool is_shared;       /* reported: another object has its number */
    uint8_t open_times;   /* open_times.c */
    uint32_t type;        /* ftype3, or 0 */
    uint32_t names;       /* number of names of the directory in |judge.names| */
    uint64_t fsid[SIDES]; /* the last ones that the servers sent */
    /* Values of judge_pair.change (enum change_state) when the object was the same: */
    int64_t accepted; /* CHANGES_ */
    int64_t rights;   /* RIGHTS_ */
    int64_t reads;    /* READS_, of access times */
    /* The host's ids of losses, or 0: */
    int64_t order;       /* after changes in another order */
    int64_t id;          /* loss of attributes, while |lost| */
    struct extents data; /* bytes that are not known to be the same */
    /* Call and reply of the last change of both, of the last one of contents or names, of what set
     * the access times, and of judge_note_change; 0: none. */
    int64_t change[SIDES][2], modified[SIDES][2], access[SIDES][2], touched[SIDES][2];
    int64_t read_until[SIDES]; /* reply of the last read; INT64_MAX: it has none */
    int64_t times[2][SIDES];   /* atime, mtime that clients set last */
    struct {
        int64_t operation; /* the CREATE that last set the size of the file; 0: none */
        uint64_t size;
    } cut[SIDES];
    struct last_times last[SIDES];
    struct shown_number number[SIDES]; /* the latest numbers */
};
_Static_assert(sizeof(struct object_state) <= JUDGE_OBJECT_BYTES, "judge.h says how many bytes");

/* A name of a directory that is not known to stand for the same, or did so after other changes. */
struct name_state {
    uint64_t hash;      /* of the directory and the name */
    int64_t difference; /* value of CHANGE_NAME when it stood for the same object */
    int64_t id;         /* the host's id of the loss */
    uint64_t withheld;  /* number of comparisons withheld because of it */
    uint32_t directory; /* row */
    uint8_t reason;     /* enum withheld_reason; 0: it is not lost */
};

struct judge {
    const struct rules *rules;
    struct places_set *places;
    const struct clock_map *clock;
    const struct judge_host *host;
    void *ctx;
    struct judge_side side[SIDES];

    struct object_state *states; /* by row; [0] is for values without an object */
    uint32_t rows, row_cap;      /* |rows|: the largest row that was added */
    struct name_state *names;
    uint32_t name_count, name_cap;
    struct table by_name;
    bool remade, partly; /* struct judge_setup */
    struct patterns patterns, of_listing;
    struct table by_number[SIDES]; /* rows by file numbers */

    /* the current pair */
    struct judge_pair *pair;
    const struct judge_half
        *found_in[SIDES];    /* replies with the compared values; NULL: the pair's own */
    struct bytes entry;      /* the name beside them in a listing; else empty */
    struct body arguments;   /* of the side that is being read */
    bool sets_access_time;   /* the pair does */
    uint32_t left_open;      /* judge_left_open, */
    uint32_t told;           /* but for these, of which a difference was told */
    int64_t unsettled;       /* judge_note_unsettled */
    bool differs[WHOSE_MAX]; /* an attribute differs, also if this was withheld */
    bool compared[WHOSE_MAX];
};

static inline const struct judge_half *judge_found_in(const struct judge *j, int side)
{
    return j->found_in[side] ? j->found_in[side] : &j->pair->half[side];
}

/* judge.c: these call the host.  They set |d->half|. */
int judge_differ(struct judge *j, struct difference *d, struct err *err);
int judge_withhold(struct judge *j, enum withheld_reason reason, const struct place *place,
                   struct err *err);
/* |d|: the difference that is withheld. */
int judge_uncertain(struct judge *j, enum withheld_reason reason, struct difference *d,
                    struct err *err);
/* Finds the row of the object of |item|, a handle. */
int judge_object_of(struct judge *j, int side, const struct item *item, uint32_t *row,
                    struct err *err);
/* Reads the result of |half|, if there is a readable one. */
int judge_read_result(struct judge *j, struct judge_half *half, struct err *err);
/* Reads the arguments of one side of the pair into |j->arguments|. */
int judge_read_arguments(struct judge *j, int side, struct err *err);

#endif
