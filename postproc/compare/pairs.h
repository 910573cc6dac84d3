/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs.h
 *
 * The second phase, what its files share: pairs of operations come in the order of table
 * alignment, their replies are read (body.h), and compared field by field (fields.c, lists.c,
 * listing.c) under the rules.  What differs goes to found.c, unless objects were not the same
 * before (sync.c).
 */
#ifndef NFSDIGEST_COMPARE_PAIRS_H
#define NFSDIGEST_COMPARE_PAIRS_H

#include "judge/body.h"
#include "judge/clock.h"
#include "compare/internal.h"
#include "compare/objects.h"

/* One side of a pair. Pointers live until the next pair. */
struct half {
    struct effect effect; /* id 0: this side has none */
    struct body result;
    struct bytes data_digest;
    uint64_t data_length;
    int64_t xid, call_source, call_frame, call_time, reply_source, reply_frame, reply_time;
    bool answered, malformed;
    uint32_t overlap; /* bits */
};

struct pair {
    int64_t id;      /* of table alignment */
    int kind;        /* enum align_kind */
    uint32_t object; /* row, or 0 */
    struct half half[SIDES];
    uint32_t overlap;        /* of both */
    int64_t state[3];        /* differences of object, object2, new object */
    int64_t reads[2];        /* likewise, of what was read: object, new object */
    int64_t rights[2];       /* of the last changes of their rights */
    int64_t names[2];        /* of the last changes of name, name2 */
    bool other_last;         /* another request changed the object last */
    struct body arguments;   /* of the side that is read at the moment */
    bool differs[WHOSE_MAX]; /* an attribute was found to differ, also if that was withheld */
    bool compared[WHOSE_MAX];
};

/* Byte ranges of a file that are not known to be the same, apart, in their order; |row|: of table
 * unsynchronized.  At most EXTENTS_MAX: beyond that the next ones become one. */
enum { EXTENTS_MAX = 256 };
struct extent {
    uint64_t start, end;
    int64_t row;
    uint8_t reason; /* enum withheld_reason */
};
struct extents {
    struct extent *extents;
    uint32_t count;
};

/* The times that a server told last of an object; |at|: when, in its capture; INT64_MAX: none that
 * are still those of the object.  |changed|: when it was changed last; INT64_MIN: never. */
struct told_times {
    int64_t mtime, ctime, at, changed;
};

/* A file number that a server told of an object in a request from |from| to |to|. */
struct shown_number {
    uint64_t fsid, fileid;
    int64_t from, to;
};

/* What a pair of objects is known to be. */
struct object_state {
    uint8_t lost;         /* 1 << UNSYNC_ATTRIBUTES, 1 << UNSYNC_DATA */
    uint8_t reason;       /* enum withheld_reason, of attributes */
    uint8_t because;      /* likewise, of the last change that the sides do not share; 0: none */
    uint8_t set;          /* bits of |times| that are known: atime, mtime */
    uint64_t fsid[SIDES]; /* the last ones told */
    bool verifier;        /* atime and mtime may hold the verifiers of an exclusive create */
    uint32_t type;
    int64_t accepted;         /* difference of states at which it was the same */
    int64_t rights;           /* and of changes of rights */
    int64_t reads;            /* difference of what was read, at which access times were */
    bool read_alone;          /* one side read it since access times were the same */
    int64_t order;            /* row of table unsynchronized, after changes in another order; 0 */
    int64_t row;              /* of table unsynchronized, of attributes */
    struct extents data;      /* bytes that are not known to be the same */
    int64_t change[SIDES][2]; /* call and reply of the last change of both; 0: none */
    int64_t times[2][SIDES];  /* atime, mtime that clients set last */
    struct {
        int64_t operation; /* CREATE that set the size of the file last; 0: none */
        uint64_t size;
    } cut[SIDES];
    struct told_times told[SIDES];
    struct shown_number number[SIDES]; /* the last ones, if |numbered| */
    bool numbered;
    bool doubtful;  /* another object had a number of it, and one of them may have been removed */
    bool is_shared; /* it was told that another object has a number of it */
};

struct found; /* found.c */

/* A hash table of 64-bit keys to 64-bit values with a candidate each. */
struct pattern {
    uint64_t key, value, candidate;
    bool has_candidate;
};
struct patterns {
    struct pattern *patterns;
    uint32_t count, cap;
    struct table by_key;
};

struct lost_name {
    uint64_t hash; /* of directory row and name; 0: free */
    int64_t row;   /* of table unsynchronized */
    uint8_t reason;
    uint64_t withheld;
};

/* The difference of changes at which a name stood for the same; 0 for names without. */
struct known_name {
    uint64_t hash;
    int64_t difference;
};

struct pairs {
    struct compare *c;
    struct objects objects;
    struct object_state *states; /* by row */
    struct clock_map clock;
    struct patterns patterns, of_listing;
    struct lost_name *names;
    uint32_t name_count, name_cap;
    struct table by_name, by_known_name;
    struct known_name *known_names;
    uint32_t known_count, known_cap;
    struct found *found;
    struct pair pair;
    const struct half *told[SIDES]; /* replies with what is compared; NULL: the pair's own */
    sqlite3_stmt *unsync, *resync, *listing, *row[SIDES], *handle[SIDES], *changed[SIDES],
        *unanswered[SIDES], *writes[SIDES][2];
    struct table handles_told;     /* further handles of objects, by side and id */
    struct table by_number[SIDES]; /* rows by file numbers */
    sqlite3_stmt *removal[SIDES];  /* prepared when it is asked for */
    int64_t longest[SIDES];        /* ns that a change of a name took at most */
};

/* --- pairs.c */

/* Reads an operation of a side; its bodies are those of the statement row[side] until the next. */
int pairs_load(struct pairs *p, int side, int64_t id, struct half *half, struct err *err);

/* --- values.c */

/* A value as a person reads it, at most COMPARE_TEXT_MAX bytes. Returns |text|. */
const char *item_text(const struct item *item, const struct half *half,
                      char text[COMPARE_TEXT_MAX]);
/* Adds " (VALUE expected)", where |value| can be shown. */
void item_expected(const struct item *item, uint64_t value, char text[COMPARE_TEXT_MAX]);
/* What is kept of a value to know it again: a number, 8 bytes, or a digest. */
uint64_t item_value(const struct item *item);
bool item_is_number(const struct item *item);
/* What differs, in a few words that like differences share. */
void item_difference(const struct item *ref, const struct item *sut, char text[COMPARE_TEXT_MAX]);
/* alike.c: whether two names differ only in the case of ASCII letters, or in how they are encoded
 * (composed or decomposed letters, UTF-8 or Latin 1): "case", "encoding", or NULL. */
const char *names_difference(struct bytes a, struct bytes b);

/* --- found.c: tables discrepancy, frame, withheld; groups in memory until the end. */

/* What an explanation depends on besides the field. */
enum difference_case {
    CASE_ANY,
    CASE_DIRECTORY,    /* a link count of a directory */
    CASE_NO_DIRECTORY, /* or of something else */
    CASE_ASKED,        /* a mode that the request gives for what it makes */
    CASE_NOT_ASKED,    /* or does not give */
    CASE_MAX
};

struct difference {
    enum difference_kind kind;
    enum difference_case when;
    const struct place *place; /* NULL: no field */
    const char *field;         /* without a place */
    const struct compare_rule *rule;
    uint32_t object;     /* row */
    const char *element; /* or NULL */
    const char *what;    /* group.difference */
    const char *text[SIDES];
    bool has_number;
    uint64_t number[SIDES];
};

int found_open(struct pairs *p, struct err *err);
void found_close(struct pairs *p);
/* Of the pair at hand. */
int found_put(struct pairs *p, const struct difference *d, struct err *err);
/* A comparison that was withheld; |place| NULL: of a whole operation. */
int found_withhold(struct pairs *p, enum withheld_reason reason, const struct place *place,
                   struct err *err);
/* A status, contents or a reply that differs, if only this did not explain it: also to table
 * uncertain, UNCERTAIN_KEPT of each kind.  |d|: found_put's. */
int found_uncertain(struct pairs *p, enum withheld_reason reason, const struct difference *d,
                    struct err *err);
/* Latencies of the pair at hand, for tables performance, latency and slowest. */
int found_latency(struct pairs *p, struct err *err);
/* Retransmissions and connections, counts.c. */
int counts_compare(struct pairs *p, struct err *err);
/* Writes groups, the tables compared and withheld, latencies, then examples. */
int found_finish(struct pairs *p, struct err *err);

/* --- unanswered.c */

/* Why |side| of the pair at hand has no reply: 0, the server gave none; a withheld_reason; or
 * negative.  The first call of a side reads its operations once. */
int unanswered_reason(struct pairs *p, int side, struct err *err);
void unanswered_close(struct pairs *p);

/* --- sync.c */

int sync_open(struct pairs *p, struct err *err);
void sync_close(struct pairs *p);
/* Why attributes, byte range or status that the pair is about may differ: a withheld_reason or 0.
 */
int sync_attributes(struct pairs *p, enum whose whose);
/* What the pair's name stands for differs. */
bool sync_is_other(const struct pairs *p, enum whose whose);
int sync_data(struct pairs *p);
int sync_rights(struct pairs *p);
/* Not the same changes of the object came before: why. */
int sync_order(const struct pairs *p, uint32_t row);
/* sync_status.c: why these two statuses may differ, of which at least one is not success: a reason
 * that could bring about each of them, or 0. */
int sync_status(struct pairs *p, const struct field *field, uint64_t ref, uint64_t sut);
/* Whether an object's contents were read on one side only, or in another order, since its access
 * times were the same. */
bool sync_reads_differ(const struct pairs *p, enum whose whose, uint32_t row);
void sync_reads_known(struct pairs *p, enum whose whose, uint32_t row);
/* Row of the object that an attribute is of; and of that which one side's is of. */
uint32_t sync_object(const struct pairs *p, enum whose whose);
uint32_t sync_row(const struct pairs *p, int side, enum whose whose);
/* After a pair (or an operation of one side only): what is no longer the same, or is again. */
int sync_after(struct pairs *p, bool status_equal, bool data_equal, struct err *err);
/* Before the replies of a pair are compared: what its requests tell. */
int sync_before(struct pairs *p, struct err *err);
/* Counts for table unsynchronized. */
void sync_count(struct pairs *p, enum whose whose);
int sync_finish(struct pairs *p, struct err *err);
/* Adds a row to table unsynchronized, and ends one: both sides are alike, if |known|. */
int sync_put_row(struct pairs *p, uint32_t row, enum unsynchronized_what what,
                 enum withheld_reason reason, struct bytes name, uint64_t start, uint64_t end,
                 int64_t *id, struct err *err);
int sync_end_row(struct pairs *p, int64_t id, bool known, uint64_t withheld, struct err *err);

/* The end of a byte range. */
static inline uint64_t range_end(uint64_t start, uint64_t length)
{
    return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}
/* sync_data.c: contents. */
/* Why the bytes [start, end) may differ: a withheld_reason or 0. */
int sync_extent(const struct object_state *state, uint64_t start, uint64_t end);
/* They are no longer known to be the same, or are again. */
int sync_lose_extent(struct pairs *p, uint32_t row, enum withheld_reason reason, uint64_t start,
                     uint64_t end, struct err *err);
int sync_know_extent(struct pairs *p, uint32_t row, uint64_t start, uint64_t end, struct err *err);
void sync_data_close(struct pairs *p);

/* sync_writes.c: whether equal requests wrote the bytes of the pair last, whatever their order. */
enum sync_written { WRITTEN_UNKNOWN, WRITTEN_ALIKE, WRITTEN_OTHERWISE };
enum sync_written sync_written(struct pairs *p);

/* --- sync_names.c: what names stand for */

/* Why the names of the pair may stand for different things: a withheld_reason or 0. */
int sync_name(struct pairs *p);
/* Of an entry of the pair's directory. */
int sync_entry(struct pairs *p, struct bytes name);
/* Both sides have it. */
int sync_entry_known(struct pairs *p, struct bytes name, struct err *err);
/* An operation on the names of the pair ended alike on both sides. */
int sync_names_known(struct pairs *p, struct err *err);
int sync_lose_name(struct pairs *p, uint32_t directory, enum withheld_reason reason,
                   struct bytes name, struct err *err);
int sync_names_finish(struct pairs *p, struct err *err);
void sync_names_close(struct pairs *p);

/* --- fields.c */

/* Compares the two results of the pair: items [from, to) of each. */
struct span {
    const struct item *items;
    uint32_t count;
};
struct fields {
    struct pairs *p;
    struct rule_case given;
    const char *element;         /* or NULL */
    struct span entry, other;    /* items of that element: ref's, sut's */
    const struct item *entry_of; /* of which entry |entry_row| is the object's row */
    uint32_t entry_row;
    uint32_t object_type[WHOSE_MAX];
    bool expects[SIDES]; /* a pattern's values that were expected, for the next difference */
    uint64_t expected[SIDES];
    uint32_t shared[SIDES];          /* row of another object with the file number at hand, or 0 */
    bool in_listing;                 /* entries and the end are compared by listing.c */
    bool status_equal, data_equal;   /* they were compared, and are */
    bool count_equal;                /* of bytes read or written */
    uint64_t fsid[WHOSE_MAX][SIDES]; /* file numbers are numbers of a file system */
};
/* For the pair at hand. */
void fields_begin(struct fields *f, struct pairs *p);
/* Walks both in lock step; ends at a status that differs. */
int fields_compare(struct fields *f, struct span ref, struct span sut, struct err *err);
const struct compare_rule *fields_rule(struct fields *f, const struct item *ref,
                                       const struct item *sut);
/* Counts and reports a difference of a field. */
int fields_differ(struct fields *f, enum difference_kind kind, const struct compare_rule *rule,
                  const struct item *ref, const struct item *sut, const char *what,
                  struct err *err);

/* Row of the object that a field speaks of, or 0. */
uint32_t fields_object(struct fields *f, const struct place *place);

/* The same as one side has it. */
uint32_t fields_row(struct fields *f, int side, const struct place *place);

/* --- handles.c */

/* Whether two handles that do not belong together are those of one file, which has several: 0 when
 * this is to be told, as it is once for each handle, 1 else; negative; or HANDLES_OF_TWO. */
enum { HANDLES_OF_TWO = 2 };
int handles_compare(struct fields *f, uint64_t scope, const struct item *ref,
                    const struct item *sut, char what[COMPARE_TEXT_MAX], struct err *err);

/* --- numbers.c: file numbers of several objects */

/* Whether the file numbers at hand are of no other object, as far as the sides do not agree in it;
 * else |what| tells which side's is.  1, 0 or negative. */
int numbers_check(struct fields *f, const struct item *ref, const struct item *sut,
                  char what[COMPARE_TEXT_MAX], struct err *err);
/* Of an object whose number changed on one side. */
void numbers_forget(struct pairs *p, uint32_t row);
/* Adds which other object has the number. */
void numbers_text(struct fields *f, int side, char text[COMPARE_TEXT_MAX]);
void numbers_close(struct pairs *p);

/* --- before.c: times from before an operation, which a client keeps for those that it knows */

enum before_kind {
    BEFORE_ANY,  /* nobody can say */
    BEFORE_KEPT, /* those that the server told last */
    BEFORE_OWN,  /* those of the operation itself: it looked too late */
};
/* What a time from before is on each side.  |is_now|: by the clocks it may be of the request, which
 * counts where nothing was told of the object before. */
void before_judge(struct fields *f, const struct item *ref, const struct item *sut,
                  const bool is_now[SIDES], enum before_kind kind[SIDES]);
/* After a pair, or an operation of one side: what the servers told. */
void before_note(struct pairs *p);

/* --- times.c */

/* How fine the server tells a time like |item|, ns. */
int64_t times_step(struct fields *f, int side, const struct item *item);

/* Whether two times are equal under |rule|, a tolerance; else |what| tells how they differ. */
int times_equal(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                const struct item *sut, char what[COMPARE_TEXT_MAX]);

/* --- lists.c */

/* |ref| and |sut| begin with an item of the same list; compares the elements behind it. */
int lists_compare(struct fields *f, const struct compare_rule *rule, struct span ref,
                  struct span sut, struct err *err);
/* How many items belong to the list at the start of |span|, with it. */
uint32_t list_length(struct span span);

struct element {
    struct span span;
    struct bytes name; /* of an entry; else none */
    uint64_t hash;
    uint32_t number;
    bool used;
    const struct half *told; /* in which reply; NULL: the pair's own */
};
/* The elements of the list that |span| is, behind those that are there. */
struct elements {
    struct element *elements;
    uint32_t count, cap;
};
int elements_add(struct elements *e, struct span list, struct err *err);
/* Those that are not |used|, in pairs as they stand, then what only one side has. */
int elements_compare(struct fields *f, const struct item *list, struct elements *ref,
                     struct elements *sut, struct err *err);
/* Sorts both by name and compares them; |skip| (or NULL) says which names are left out. */
int elements_compare_names(struct fields *f, const struct item *list, struct elements *ref,
                           struct elements *sut,
                           int (*skip)(void *ctx, struct bytes name, bool both, struct err *err),
                           void *ctx, struct err *err);

/* --- listing.c */

/* Before the first one; finds out when names were changed. */
int listing_prepare(struct pairs *p, struct err *err);
/* A pair that begins listings of a directory: with all their parts. */
int listing_compare(struct pairs *p, struct fields *f, struct err *err);

/* --- patterns.c */

/* CROSSED: both values are known, each with another one. */
enum {
    PATTERN_SUT_CHANGED = 0,
    PATTERN_HOLDS = 1,
    PATTERN_REF_CHANGED = 2,
    PATTERN_CROSSED = 3,
};
/* Whether ref's value goes on to stand for sut's, or negative. |scope| is part of the key. */
int pattern_holds(struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut, struct err *err);
/* From now on it does, whatever was known. */
int pattern_note(struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut, struct err *err);
/* The value of |side| that the other side's stands for, if that is known and another one. */
bool pattern_expects(const struct patterns *p, uint64_t scope, int side, uint64_t ref, uint64_t sut,
                     uint64_t *value);
/* Whether something is known of one of them. */
bool pattern_is_known(const struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut);
void patterns_free(struct patterns *p);

#endif
