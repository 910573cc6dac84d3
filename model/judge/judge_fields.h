/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_fields.h
 *
 * The comparison of two replies, in parts: field by field, lists, whole listings, times, file
 * numbers, handles.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_FIELDS_H
#define NFSDIGEST_JUDGE_JUDGE_FIELDS_H

#include "judge/sync.h"
#include "judge/judge_values.h"

/* --- judge_fields.c */

/* Compares the two results of the pair: items [from, to) of each. */
struct span {
    const struct item *items;
    uint32_t count;
};
struct fields {
    struct judge *j;
    struct rule_case given;
    const char *element;      /* or NULL */
    struct span entry, other; /* items of that element: ref's, sut's */
    uint32_t entry_row;       /* row of the entry's object, or 0 */
    uint32_t object_type[WHOSE_MAX];
    char what[COMPARE_TEXT_MAX]; /* how the current field differs, in words; "": not set yet */
    bool expects[SIDES];         /* the pattern expects a value, for the next difference */
    uint64_t expected[SIDES];
    uint32_t shared[SIDES];          /* row of another object with the current file number, or 0 */
    bool in_listing;                 /* entries and the end are compared by listing.c */
    bool status_equal, data_equal;   /* they were compared and are equal */
    bool count_equal;                /* the counts of bytes read or written are equal */
    uint64_t fsid[WHOSE_MAX][SIDES]; /* file numbers are numbers of a file system */
};
/* Begins the comparison of the current pair. */
void fields_begin(struct fields *f, struct judge *j);
/* Compares both in parallel.  Ends at a status that differs. */
int fields_compare(struct fields *f, struct span ref, struct span sut, struct err *err);
const struct compare_rule *fields_rule(struct fields *f, const struct item *ref,
                                       const struct item *sut);
/* Counts and reports a difference of a field, described in |f->what|. */
int fields_differ(struct fields *f, enum difference_kind kind, const struct compare_rule *rule,
                  const struct item *ref, const struct item *sut, struct err *err);
/* Returns why it is left open what a list of access rights has, or 0. */
int fields_open_rights(struct fields *f, const struct place *place);

/* Call these before and after the comparison of an element of a list. */
int fields_enter(struct fields *f, struct span ref, struct span sut, struct err *err);
void fields_leave(struct fields *f);

/* Returns the row of the object that a field is about, or 0. */
uint32_t fields_object(const struct fields *f, const struct place *place);

/* Finds the same row as |side| has it. */
int fields_row(struct fields *f, int side, const struct place *place, uint32_t *row,
               struct err *err);

/* fields_pattern.c: returns 1 if two values belong together, 0 if not (|f->what| then says why), or
 * a negative code. */
int fields_equal_pattern(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                         const struct item *sut, struct err *err);

/* --- judge_handles.c */

/* Checks if two handles that were not matched belong to one file with several handles.  Returns 0
 * if they do, and reports it once for each handle; 1 if it was reported before; HANDLES_OF_TWO if
 * they do not; or a negative code. */
enum { HANDLES_OF_TWO = 2 };
int handles_compare(struct fields *f, const struct pattern_of *of, const struct item *ref,
                    const struct item *sut, struct err *err);

/* --- numbers.c: file numbers of several objects */

/* Returns 1 if neither side gives the current file numbers to another object, or if both do.
 * Returns 0 if only one side does; |f->what| says which.  Or negative. */
int numbers_check(struct fields *f, const struct item *ref, const struct item *sut,
                  struct err *err);
/* Forgets the numbers of an object whose number changed on one side. */
void numbers_forget(struct judge *j, uint32_t row);
/* Appends which other object has the number. */
int numbers_text(struct fields *f, int side, char text[COMPARE_TEXT_MAX], struct err *err);
/* Drops the numbers of an object that is dropped. */
void numbers_drop(struct judge *j, uint32_t row);

/* --- before.c: times from before an operation (wcc_attr) */

enum before_kind {
    BEFORE_ANY,  /* undetermined */
    BEFORE_KEPT, /* the last ones that the server sent */
    BEFORE_OWN,  /* the operation's own times: the server read them too late */
};
/* Finds the kind of a time from before, on each side.  |is_now|: by the clocks, the time may be
 * that of the request.  This counts if the server sent no times of the object before. */
void before_judge(struct fields *f, const struct item *ref, const struct item *sut,
                  const bool is_now[SIDES], enum before_kind kind[SIDES]);
/* Whether a time from before is that from after the operation on one side only. */
bool before_is_uneven(const struct fields *f, const struct item *ref, const struct item *sut);
/* Notes the times that the servers sent.  Call it after a pair or an operation of one side. */
void before_note(struct judge *j);

/* --- times.c */

/* Returns the granularity of the server's times of the kind of |item|, ns. */
int64_t times_step(struct fields *f, int side, const struct item *item);

/* True if |ref| is a change time from after a request that both sides executed, and the one from
 * before shows that it is this request's own: so the SUT's should be, too, whatever came before. */
bool times_changed_now(const struct fields *f, const struct item *ref);

/* Checks if two times are equal under |rule|, a tolerance.  If not, |f->what| says how they differ.
 */
int times_equal(struct fields *f, const struct compare_rule *rule, const struct item *ref,
                const struct item *sut);
/* Whether two times that are equal under |rule| are so for anybody who sees this pair alone. */
bool times_are_plain(const struct fields *f, const struct compare_rule *rule,
                     const struct item *ref, const struct item *sut);

/* --- lists.c */

/* Compares the elements of a list.  |ref| and |sut| begin with the list's item. */
int lists_compare(struct fields *f, const struct compare_rule *rule, struct span ref,
                  struct span sut, struct err *err);
/* Returns the number of items of the list at the start of |span|, with the list's own item. */
uint32_t lists_length(struct span span);

struct element {
    struct span span;
    struct bytes name; /* name of an entry; empty for other elements */
    uint64_t hash;
    uint32_t number;
    bool used;
    const struct judge_half *reply; /* the reply that it is in; NULL: the pair's own */
};
/* A growing list of elements.  elements_add appends those of the list |list|. */
struct elements {
    struct element *elements;
    uint32_t count, cap;
};
int elements_add(struct elements *e, struct span list, struct err *err);
/* Compares the elements that are not |used| in pairs, in their order.  Then reports those that only
 * one side has. */
int elements_compare(struct fields *f, const struct item *list, struct elements *ref,
                     struct elements *sut, struct err *err);
/* Says which names are left out.  Returns 1, 0 or a negative code. */
struct elements_skip {
    int (*is_left_out)(void *ctx, struct bytes name, bool both, struct err *err);
    void *ctx;
};
/* Sorts both by name and compares them. */
int elements_compare_names(struct fields *f, const struct item *list, struct elements *ref,
                           struct elements *sut, const struct elements_skip *skip, struct err *err);

/* --- listing.c */

/* Compares the listings that the pair begins, with all their parts. */
int listing_compare(struct fields *f, struct err *err);

#endif
