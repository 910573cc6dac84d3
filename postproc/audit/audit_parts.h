/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit_parts.h
 *
 * Shared by the files of the audit.
 */
#ifndef NFSDIGEST_AUDIT_AUDIT_PARTS_H
#define NFSDIGEST_AUDIT_AUDIT_PARTS_H

#include "audit/allow.h"
#include "audit/audit.h"
#include "audit/blocks.h"
#include "audit/chance.h"
#include "audit/encoded.h"
#include "audit/form.h"
#include "audit/item.h"
#include "audit/keyed.h"
#include "audit/search.h"

enum {
    FINDINGS_SHOWN = 20, /* of one kind and class */
    FINDINGS_MAX = 2000,
    FINDING_BYTES = 48,
    SHORT_NAME = 7, /* names below this many characters may stay by chance where lengths do */
    LENGTHS = 256,
    ALIGN_MESSAGES = 1024, /* by so many may an order differ */
    ALIGN_BYTES = 64 << 20,
    HITS_MAX = 1 << 22,
    SEEN_PLACES = 1 << 16,
    SEEN_ENDS = 1 << 12,
};

enum finding_kind {
    FOUND_LEAK,       /* a secret stands in the file's bytes */
    FOUND_SAME_FIELD, /* a value of the original, in a field of the kind that it came from */
    FOUND_IDENTITY,   /* a value was not changed */
    FOUND_FUNCTION,   /* one value became two */
    FOUND_COLLISION,  /* two values became one */
    FOUND_VALUE,      /* a value that should have stayed was changed */
    FOUND_TIME,
    FOUND_LENGTH,     /* pseudonyms have their originals' lengths, against the policy */
    FOUND_STRUCTURE,  /* a message's form differs */
    FOUND_PADDING,    /* bytes between values that are not 0 */
    FOUND_CONTENTS,   /* file contents that are left */
    FOUND_MISSING,    /* messages that are not there and not accounted for */
    FOUND_SURPLUS,    /* messages and frames that the original does not explain */
    FOUND_UNKEYED,    /* pseudonyms that follow from their originals without a key */
    FOUND_POLICY,     /* another policy than the stated one */
    FOUND_FORM,       /* the file is not as the anonymizer writes it */
    FOUND_RECOMPUTED, /* not what the anonymizer makes with the key */
    FOUND_UNCHECKED,  /* more than could be looked at */
    FOUND_KINDS
};

struct quote { /* the first bytes of a value */
    uint8_t data[FINDING_BYTES];
    uint32_t len; /* of the whole */
    bool is_number;
    uint64_t number;
};

struct finding {
    uint8_t kind;                   /* enum finding_kind */
    const char *what;               /* class or domain; static text */
    int64_t offset;                 /* in the anonymized file; negative: the frame says where */
    uint64_t frame, original_frame; /* 0: none */
    char place[WALK_PATH_MAX];      /* field, block */
    struct quote original, anonymized, expected;
    char text[160]; /* further words, without anything of the original's */
};

struct finding_count {
    uint8_t kind;
    const char *what;
    uint64_t count;
    uint64_t rest, rest_digest; /* of those that are not shown */
};

/* A class of secrets in the search. */
struct leak_row {
    uint64_t hits;      /* long ones, in all */
    uint64_t kept;      /* of these explained by values that stay */
    uint64_t allowed;   /* by the allow-list */
    uint64_t findings;  /* long ones */
    uint64_t doubtful;  /* hits that may be chance, those of short secrets among them */
    double expected;    /* of these */
    double probability; /* of so many */
    uint32_t short_count;
};

struct domain_row {
    uint64_t compared, kept; /* values; of these allowed to stay */
    uint64_t same, contradictions, collisions, zero_collisions, changed_to_zero, changed;
    uint64_t foreign;         /* pseudonyms that are other originals */
    double foreign_by_chance; /* as many are to be expected */
};

struct name_row {
    uint64_t lengths[LENGTHS]; /* distinct names by their pseudonyms' length, kept parts off */
    uint64_t distinct, same_length;
    uint64_t suffix, prefix; /* distinct names whose suffix or prefix stayed */
    uint64_t short_seen[SHORT_NAME], short_same[SHORT_NAME];
    struct finding short_findings[FINDINGS_SHOWN]; /* if these are no chance */
    uint32_t short_finding_count;
    uint64_t paths, paths_flattened;
};

struct residual {
    int64_t first_time, last_time;
    uint64_t timed; /* messages of packets that have a time */
    uint64_t listings, entries, entries_max;
    uint64_t sizes, sizes_unique; /* distinct file sizes, and those of one file only */
    uint64_t calls_by_procedure[32];
};

/* What the words of residual.c are made of. */
enum { RANKS = 5, RANKED = 4 };
struct ranks {
    uint64_t uses[RANKS], all, distinct; /* uses: of the most frequent ones */
};
struct residual_figures {
    int64_t span; /* ns */
    uint64_t calls_by_procedure[32];
    uint64_t listings, entries, entries_max;
    uint64_t sizes, sizes_unique;
    bool sizes_more, xids_kept, ports_mapped;
    struct ranks ranks[RANKED];
};

struct audit {
    const struct audit_options *options;
    struct allow allow;
    struct secrets secrets;
    struct pairs pairs;
    struct chains chains; /* of values that are not meant to stay, and of headers */
    struct search *search;
    struct survive *survive; /* not NULL: pairs of messages go there, and nowhere else */
    struct encoded *encoded;

    struct finding findings[FINDINGS_MAX];
    uint32_t finding_count;
    struct finding_count counts[128];
    uint32_t count_rows;
    uint64_t finding_total;

    uint64_t seen[SEEN_PLACES];    /* hashes of values gathered lately */
    uint64_t seen_ends[SEEN_ENDS]; /* of connections compared lately */
    struct pair_side hardware;     /* the original's */
    struct pair_side sizes;

    struct source_counts original, anonymized;
    uint64_t matched, missing, surplus, incomplete, unread_bodies;
    bool has_shift, xids_kept, has_attribute_shift;
    int64_t shift;                 /* ns, from original to anonymized */
    uint32_t attribute_shift;      /* s */
    struct pair_side in_times;     /* halves of the original's exclusive CREATEs' verifiers */
    struct pair_side halves;       /* of all its verifiers, that were tested for a key */
    uint64_t fields[ITEM_CLASSES]; /* compared */
    uint64_t data_zero, data_noise, data_noise_frame;
    struct domain_row domains[DOMAIN_MAX];
    struct name_row names;
    struct leak_row leaks[SECRET_MAX];
    struct residual residual;
    const struct residual_figures *figures; /* NULL: of this audit itself; else of a report */
    uint64_t bytes_searched, message_bytes, message_kept_bytes;

    struct {
        bool done, other_version; /* of the program made the file */
        uint64_t messages, bytes;
    } recomputed; /* with the key */

    struct policy_rules *rules; /* what is expected, rules.h */
    struct form form;
    struct keyed keyed;
    bool has_provenance, has_dropped;
    char provenance[160];               /* first line of the comment */
    char policy[64], policy_digest[72]; /* what is expected */
    char stated_policy[64];             /* what the file says of itself */
    char stated_digest[72];
    uint64_t dropped; /* as the file says */
};

/* audit.c: what is done with a capture, now and then */
enum { PROGRESS_FRAMES = 1 << 12 };
static inline void audit_progress(const struct audit *a, const char *step,
                                  const struct block *block)
{
    if (block->frame % PROGRESS_FRAMES == 0)
        progress_show(a->options->progress, step, block->input);
}

/* findings.c */
void audit_find(struct audit *a, const struct finding *finding);
const char *finding_kind_name(unsigned kind);
const char *finding_kind_words(unsigned kind);

/* identity.c: 64 bits of what a finding says, the same in every run over the same files */
uint64_t finding_identity(const struct finding *finding);
struct quote quote_bytes(const void *data, size_t len);
struct quote quote_number(uint64_t number);

/* gather.c: what is secret in the original.  Called in a thread of audit_align.c's, which nothing
 * else gives |secrets|, |hardware| and |seen| meanwhile. */
int gather_message(struct audit *a, const struct audit_message *m, const struct items *items,
                   struct err *err);
/* A frame by the note that gather_look made on it in another thread. */
int gather_look(void *ctx, const struct frame *frame, struct buf *note, struct err *err);
int gather_frame(struct audit *a, uint64_t frame, const void *note, size_t len, struct err *err);
int gather_metadata(struct audit *a, struct err *err);
/* The same value comes again and again: a direct-mapped memory of the last ones. */
bool seen_lately(uint64_t *memory, uint32_t places, uint64_t seed, const void *data, size_t len);
bool gather_is_seen(struct audit *a, unsigned cls, const void *data, size_t len);

/* An address that is written out: alone, as RFC 5665 s5.2.3 does, or with a prefix length; then it
 * is not |exact|. */
bool text_address(const uint8_t *data, uint32_t len, struct address *out, bool *exact);

/* peek.c: hardware and IP addresses in a frame's headers, without the engine's help */
struct peek {
    uint8_t hardware[4][6]; /* also those in ARP */
    unsigned hardware_count;
    struct address address[4];
    unsigned address_count;
};
void peek_frame(const struct frame *frame, struct peek *peek);

/* audit_align.c: the messages of both, compared in pairs */
int align_captures(struct audit *a, struct err *err);

/* audit.c: what the anonymized file says of itself */
int audit_stated(struct audit *a, struct err *err);

/* audit_compare.c */
struct comparer {
    struct audit *audit;
    struct items original, anonymized;
};
int compare_messages(struct comparer *c, const struct audit_message *o,
                     const struct audit_message *n, struct err *err);
int compare_finish(struct audit *a, struct err *err);
bool is_constant_time(uint64_t seconds); /* known to everyone, and of no event */

/* rules.c: what the policy says and what all values together show */
void rules_finish(struct audit *a);

/* audit_compare_text.c: names, paths, hosts and addresses */
struct place { /* of the value that is compared */
    const struct comparer *comparer;
    const struct audit_message *original, *anonymized;
    uint32_t index;
};
void place_finding(const struct place *p, unsigned kind, const char *what, struct finding *f);
int compare_pair(struct audit *a, const struct place *p, const struct pair_values *pair,
                 bool *is_new, struct err *err);
int compare_text(struct audit *a, const struct place *p, const struct item *o, const struct item *n,
                 struct err *err);
int compare_address(struct audit *a, const struct place *p, const struct address *o,
                    const struct address *n, struct err *err);

/* leak.c: every byte of the anonymized file */
int leak_search(struct audit *a, struct err *err);

/* mask.c: which bytes of an anonymized message may be as they were */
int mask_message(struct audit *a, const struct audit_message *m, const struct items *items,
                 uint8_t *mask, struct err *err);

/* recompute.c: with the key and the anonymizer, which all else here does without */
int recompute_run(struct audit *a, struct err *err);
/* recompute_stated.c: the policy that the file states, when the expected one is known */
int recompute_stated(struct audit *a, struct err *err);

/* residual.c: what a message of the original that has a counterpart adds to the figures */
void residual_message(struct audit *a, const struct audit_message *m, const struct items *items);
/* Each line of words, without the original's values */
typedef void residual_line(void *ctx, const char *topic, const char *text);
void residual_words(const struct audit *a, residual_line *line, void *ctx);
void residual_figures(const struct audit *a, struct residual_figures *figures);

#endif
