/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_parts.h
 *
 * What the files of verdict.h share:
 *
 *     verdict.c           classes, what is asked again, what is learned of handles and ctimes
 *     verdict_values.c    the groups of the mask
 *     verdict_listing.c   names and cookies
 *     verdict_contents.c  bytes of READs, sizes and holes
 *     verdict_rules.c     differences that rules allow
 *     verdict_text.c      words
 *     verdict_lesson.c    what other players have to know
 *     verdict_numbers.c   elements by the numbers of steps
 */
#ifndef NFSDIGEST_PLAYER_VERDICT_PARTS_H
#define NFSDIGEST_PLAYER_VERDICT_PARTS_H

#include "base/pool.h"
#include "base/table.h"
#include "effect/expect.h"
#include "effect/shapes.h"
#include "player/verdict.h"
#include "rules/place.h"

/* Elements by the number of their step, which each begins with. */
struct by_number {
    struct table table;
    struct pool pool;
};

void *by_number_find(const struct by_number *all, uint64_t number);
void *by_number_add(struct by_number *all, uint64_t number); /* NULL: no memory */
/* |end| frees what the element points to. */
void by_number_remove(struct by_number *all, uint64_t number, void (*end)(void *element));
void by_number_free(struct by_number *all, void (*end)(void *element));

/* The names of a listing so far. */
struct listing_names {
    struct expect_names sums;
    bool no_handles; /* an entry had no handle: EXPECT_BEHIND can't be compared */
};

/* Where a later operation may continue: behind so many entries. */
struct listing_place {
    uint32_t entries;
    uint64_t cookie;
    struct listing_names names;
};

/* A listing whose cookies are kept. */
struct listing {
    uint64_t number;
    uint8_t verifier[8];
    uint32_t count, cap;
    struct listing_place *places; /* |entries| grows */
};

/* A name of the trace (EXPECT_SOME_NAMES), by its hash. */
struct wanted_name {
    uint64_t hash;
    bool found;
};

struct wanted_names {
    struct wanted_name *all; /* sorted */
    uint32_t count, cap;
    uint32_t missing;
};

/* A step that needs further replies. */
struct aside {
    uint64_t number;
    /* NEXT_LIST_ON: */
    struct listing_names names;
    uint64_t cookie;
    uint8_t verifier[8];
    bool again; /* it lists from the beginning, for names before the step's cookie */
    struct wanted_names wanted;
    /* NEXT_LOOKUP: the verdict so far */
    bool looks_up;
    struct verdict verdict;
};

struct verdicts {
    struct verdict_setup setup;
    uint32_t copies, horizon;
    bool results;
    uint32_t ignore; /* of any |whose| */
    struct by_number listings, asides;
    /* of the reply at hand: */
    struct effect effect;
    struct shapes shapes;
    struct listing_names names;
    uint32_t absent;   /* groups beside attributes that the reply does not show */
    bool learned;      /* its handle was not known before */
    uint32_t identity; /* of the object found or made: its number in the single trace; or 0 */
    struct places_set places; /* of setup.rules: fields of results, when first needed */
    bool no_memory;           /* for these */
    /* room: */
    struct buf values, links, text, lesson;
    struct wanted_names wanted;
};

/* --- verdict.c */

/* A number of the single trace (schemas/rdump.md section 9); 0: of another copy. */
uint32_t verdict_single(const struct verdicts *v, const struct step *step, uint32_t number);

/* --- verdict_values.c: compares the groups of step->mask */

void verdict_values(struct verdicts *v, const struct step *step, struct verdict *to);
/* The number that step->results says was found or made, in the step's copy; 0: it does not say. */
uint32_t verdict_expected_identity(const struct verdicts *v, const struct step *step);

/* --- verdict_listing.c */

/* The reply lists names.  Sets |v->names| and |v->absent|, keeps cookies, and decides whether to
 * list on (to->next).  |aside|: of the step, or NULL.  Returns 0, or -ERR_SYSTEM. */
int verdict_listing(struct verdicts *v, uint64_t number, const struct step *step,
                    struct aside *aside, struct verdict *to, struct err *err);
/* Adds to |to->text| which names are missing, or are too many. */
void verdict_listing_text(struct verdicts *v, const struct step *step, struct verdict *to);
void verdict_listing_end(void *listing); /* frees what it points to */
void verdict_aside_end(void *aside);

/* --- verdict_contents.c */

/* Learns sizes and holes from a success. */
void verdict_contents_learn(struct verdicts *v, const struct step *step, uint32_t new_object);
/* Compares the bytes of a READ. */
void verdict_contents(struct verdicts *v, const struct step *step, struct verdict *to);

/* --- verdict_rules.c: each returns true if rules allow the difference, and notes them in |to| */

/* step->status is not to->status. */
bool verdict_rules_status(struct verdicts *v, const struct step *step, struct verdict *to);
/* Group number |bit| has values[0] in the trace and values[1] here, as the digest covers them. */
bool verdict_rules_group(struct verdicts *v, const struct step *step, unsigned bit,
                         const struct bytes values[2], struct verdict *to);
/* A field whose value is known to differ, but not by how much: only ignored allows it.  |role|: of
 * the field in the procedure's result (wire/field.h). */
bool verdict_rules_role(struct verdicts *v, const struct step *step, uint32_t role,
                        struct verdict *to);
/* Enters a difference, |allowed| or not.  Returns where its text belongs, or NULL if the verdict
 * has one that counts more. */
char *verdict_difference(struct verdict *to, uint32_t groups, bool allowed);

/* --- verdict_text.c: fill text[VERDICT_TEXT] */

void verdict_text_status(const struct procedure *procedure, uint32_t expected, uint32_t got,
                         char *text);
void verdict_text_unanswered(const struct rpc_answer *answer, char *text);
void verdict_text_malformed(const struct effect *effect, char *text);
/* |bit|: number of the group; values as the digest covers them. */
void verdict_text_group(unsigned bit, struct bytes expected, struct bytes got, char *text);

#endif
