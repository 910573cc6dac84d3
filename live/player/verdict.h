/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict.h
 *
 * Compares a reply of the target with what the dump says the operation must show again
 * (schemas/rdump.md section 5), and learns from it: handles, ctimes, sizes, cookies.
 *
 * Rules may allow differences.  An operation that differs in nothing else is as recorded, and says
 * which rules have allowed it; what it says differs is then the first of what they allowed.  At
 * most VERDICT_RULES rules count for an operation: what only a further one allows, differs.
 *
 * What can differ is said for people, too.
 *
 * Memory: for |horizon| steps, 48 bytes for each place where one of them may continue a listing (at
 * most one for each entry of its replies); 600 bytes for each step under way that lists on or looks
 * up, and 16 for each name that it still has to find.
 */
#ifndef NFSDIGEST_PLAYER_VERDICT_H
#define NFSDIGEST_PLAYER_VERDICT_H

#include "net/rpc_client.h"
#include "player/fill_in.h"
#include "player/objects.h"
#include "player/script.h"
#include "player/step.h"
#include "rules/rules.h"

/* Every operation is in exactly one class.  Words of Oracle's Database Replay for divergence. */
enum verdict_class {
    VERDICT_AS_RECORDED,
    VERDICT_NEW_ERROR,        /* the trace has success */
    VERDICT_VANISHED_ERROR,   /* the trace has an error */
    VERDICT_DIFFERENT_ERROR,  /* both have, but not the same */
    VERDICT_DIFFERENT_RESULT, /* the same status, other values */
    VERDICT_SKIPPED,          /* because of another operation */
    VERDICT_UNCERTAIN,        /* an error that only a duplicate cache lost in a restart explains */
    VERDICT_UNANSWERED,       /* no reply, or an RPC error, or a malformed one */
    VERDICT_UNPLAYABLE,
    VERDICT_NOT_PLAYED, /* the run was ended before */
    VERDICT_CLASSES
};
/* "as recorded", "new error", ... */
const char *verdict_class_name(enum verdict_class class);
/* What people would not expect in a class of this name, for tables; "": nothing. */
const char *verdict_class_note(enum verdict_class class);
/* True if it was to be played, and has not ended as in the trace. */
static inline bool verdict_differs(enum verdict_class class)
{
    return class != VERDICT_AS_RECORDED && class != VERDICT_UNPLAYABLE &&
           class != VERDICT_NOT_PLAYED;
}

enum verdict_next {
    NEXT_NOTHING,
    NEXT_AGAIN,   /* the same call, with a new XID, after |wait| ns: JUKEBOX; STALE that is late */
    NEXT_LOOKUP,  /* the reply has no handle of what was made: a LOOKUP of the step's name, whose
                   * answer goes to verdict_looked_up */
    NEXT_LIST_ON, /* the listing has to be read on: the same call with the cookie and the verifier
                   * of |with|, after |wait| ns */
};

enum { VERDICT_TEXT = 256, VERDICT_RULES = 16 };

struct verdict {
    enum verdict_class class;
    /* If it is not NEXT_NOTHING, |class| is the one for a player that asks no more. */
    enum verdict_next next;
    int64_t wait;
    struct fill_in with;   /* NEXT_LIST_ON: its cookie and verifier; the rest is not set */
    uint32_t status;       /* of the reply */
    uint32_t bytes;        /* of file contents that were read or written */
    uint32_t groups;       /* RDUMP_EXPECT_ bits of the values that differ; all of the mask if the
                            * dump has no results */
    bool contents;         /* the bytes of a READ are not those of the trace's file */
    bool learned;          /* the handle of |found| is from this reply */
    bool learned_contents; /* so is what is known of the contents of a file */
    uint32_t found;        /* number of what was found or made; 0: not known */
    enum verdict_class without_rules; /* the class if there were no rules: of errors only */
    uint32_t excused;                 /* as |groups|: those that rules allow */
    uint32_t rule_count, rules[VERDICT_RULES]; /* ids of the rules that have allowed differences */
    char text[VERDICT_TEXT];                   /* what differs, for people; "" */
};

struct verdicts; /* of one script */

struct verdict_setup {
    struct script *script; /* trace.copies, trace.results */
    struct objects *objects;
    bool fill;       /* files were filled, and WRITEs are, with the function of live/fill: READs are
                      * checked byte by byte */
    bool links;      /* link counts of directories are compared */
    uint32_t ignore; /* RDUMP_EXPECT_ bits (of any |whose|) that are not compared */
    bool late_stale; /* success instead of STALE is asked again for a second */
    /* Allow differences; need trace.results.  NULL: none. */
    const struct rules *rules;
};

struct verdicts *verdicts_new(const struct verdict_setup *setup, struct err *err);
void verdicts_free(struct verdicts *verdicts);

/* What a step that continues a listing has to send.  False: the listing before it gave no cookie,
 * so it has to be skipped because of that one. */
bool verdict_cookie(const struct verdicts *verdicts, uint64_t number, const struct step *step,
                    struct fill_in *with);
/* A reply.  |again|: how many replies to this step there were before.  |sent|, |arrived|: times.
 * Returns 0, or -ERR_SYSTEM. */
int verdict_reply(struct verdicts *verdicts, uint64_t number, const struct step *step,
                  const struct rpc_answer *answer, uint32_t again, struct verdict *to,
                  struct err *err);
int verdict_looked_up(struct verdicts *verdicts, uint64_t number, const struct step *step,
                      const struct rpc_answer *answer, struct verdict *to, struct err *err);
/* GETATTR directly before a guarded SETATTR: learns the ctime.  Replies to other operations do not
 * tell it: an operation on a name changes the ctime of the object, and does not show it. */
int verdict_learn(struct verdicts *verdicts, const struct step *step, uint32_t object,
                  const struct rpc_answer *answer, struct err *err);
/* The step and all before it are done: forgets its cookies' past and the objects of its |forget|.
 * |step| may be NULL if it has none of these. */
void verdict_release(struct verdicts *verdicts, uint64_t number, const struct step *step);

#endif
