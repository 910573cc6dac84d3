/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint.h
 *
 * Checks one server against RFC 1813 and against itself over time, without a reference.  It is fed
 * operation by operation, and needs no database: programs that talk to live servers can use it.
 *
 *     lint_new; for each operation lint_called, later lint_done; lint_end; lint_free
 *
 * Calls come in the order of their times, and so do replies (postproc/plan/effects.h gives both).
 * Operations that overlap have no known order: what an overlapping operation may have changed is
 * not judged.  Nor is anything over time for an operation whose packets have no times, for an
 * object that an operation without a captured reply may have changed, and around operations whose
 * calls were not captured.  Rules and their texts: lint_rules.h.
 *
 * Objects are the reader's numbers of handles (effect.h), each for one handle of one server.
 *
 * Memory, with a place in a table for each: 240 bytes for each of at most LINT_OBJECTS objects, 80
 * for each of LINT_NAMES names and 64 for each of LINT_BLOCKS blocks.  Those that came first are
 * forgotten first; objects are counted then.  80 to 320 bytes for each of at most LINT_RANGES
 * ranges that WRITEs wrote, at most LINT_RANGES_EACH for an object; others are not judged.  For
 * each of LINT_SERVERS servers, LINT_VERIFIERS write verifiers; later ones are not judged, and
 * counted.  65,536 answers of ACCESS, 65,536 ranges that READs
 * read (without digests of blocks), and 32,768 XIDs.  LINT_HELD findings that wait for a
 * verifier; others are counted.  The names of one listing.  Less than LINT_MEMORY_MIB in all;
 * tests/bench/bench_lint.c measures it.
 */
#ifndef NFSDIGEST_LINT_LINT_H
#define NFSDIGEST_LINT_LINT_H

#include "effect/effect.h"
#include "lint/lint_rules.h"

enum {
    LINT_OBJECTS = 1 << 20,
    LINT_RANGES = 1 << 18,
    LINT_RANGES_EACH = 512,
    LINT_BLOCKS = 1 << 19,
    LINT_HELD = 1024,
    LINT_NAMES = 1 << 18,
    LINT_SERVERS = 64,
    LINT_VERIFIERS = 32,
    LINT_TEXT_MAX = 256,
    LINT_MEMORY_MIB = 600, /* all of the above, with tables that grow by doubling */
};

struct lint_finding {
    enum lint_id rule;
    const struct effect *effect; /* the operation that breaks the rule; perhaps a copy without its
                                  * bodies */
    int64_t earlier;             /* id of an earlier operation that it contradicts, or 0 */
    const char *text;            /* what happened: "8192 bytes returned, 4096 asked for" */
};

struct lint_options {
    const struct lint_rules *rules;
    /* Receives findings.  They live until it returns.  Returns 0, or a negative code, which ends
     * the call that found it. */
    int (*finding)(void *ctx, const struct lint_finding *finding, struct err *err);
    void *ctx;
    uint32_t objects; /* 0: LINT_OBJECTS */
    uint32_t ranges;  /* 0: LINT_RANGES */
    uint32_t names;   /* 0: LINT_NAMES */
    uint32_t blocks;  /* 0: LINT_BLOCKS */
    /* Tells whether the text of a further finding of this rule is read; else it may be empty. NULL:
     * it is. */
    bool (*is_read)(void *ctx, enum lint_id rule);
};

struct lint_counts {
    uint64_t operations;        /* of NFSv3, judged */
    uint64_t unanswered;        /* of these, without a reply */
    uint64_t unknown;           /* replies whose call was not captured: not judged */
    uint64_t objects_forgotten; /* for lack of room */
    uint64_t reads, compared;   /* READs of contents; compared with WRITEs, at least in part */
    uint64_t read_again;        /* compared with earlier READs, at least in part */
    uint64_t with_blocks;       /* READs with digests of blocks */
    uint64_t excused;           /* contradictions that a restart of the server explains */
    uint64_t undecided;         /* those for which there was no room to wait, or no verifier */
    uint64_t verifiers_ignored;
    uint64_t new_verifiers; /* restarts: the servers showed another write verifier than before */
    uint64_t sent_again;    /* calls that change something, were sent again and got a reply */
};

struct lint;

struct lint *lint_new(const struct lint_options *options, struct err *err);
/* Return 0 or a negative code.  For lint_called, all that the arguments tell and |call_time| must
 * be set; |done_time|, |new_object| and |pairing| (else PAIRED) as far as they are known.  For
 * lint_done, everything.  |effect->mark| belongs to lint in between. */
int lint_called(struct lint *lint, struct effect *effect, struct err *err);
int lint_done(struct lint *lint, struct effect *effect, struct err *err);
/* No operation follows.  Reports findings that waited for one, with a copy of their operation
 * whose bodies are gone. */
int lint_end(struct lint *lint, struct err *err);
struct lint_counts lint_counts(const struct lint *lint);
void lint_free(struct lint *lint);

#endif
