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
    ALIGN_MESSAGES = 1024, /* the order may differ by so many messages */
    ALIGN_BYTES = 64 << 20,
    HITS_MAX = 1 << 22,
    SEEN_PLACES = 1 << 16,
    SEEN_ENDS = 1 << 12,
};

enum finding_kind {
    FOUND_LEAK,       /* a secret is in the file's bytes */
    FOUND_SAME_FIELD, /* a value of the original, in a field of the kind that it came from */
    FOUND_IDENTITY,   /* a value was not changed */
    FOUND_FUNCTION,   /* one value became two */
    FOUND_COLLISION,  /* two values became one */
    FOUND_VALUE,      /* a value that should have stayed was changed */
    FOUND_TIME,
    FOUND_LENGTH,     /* pseudonyms have their originals' lengths, against the policy */
    FOUND_STRUCTURE,  /* the form of a message differs */
    FOUND_PADDING,    /* bytes between values that are not 0 */
    FOUND_CONTENTS,   /* file contents that are left */
    FOUND_MISSING,    /* messages that are missing and not accounted for */
    FOUND_SURPLUS,    /* messages and frames that the original does not explain */
    FOUND_UNKEYED,    /* pseudonyms that follow from their originals without a key */
    FOUND_POLICY,     /* another policy than the stated one */
    FOUND_FORM,       /* the file is not as the anonymizer writes it */
    FOUND_RECOMPUTED, /* not what the anonymizer makes with the key */
    FOUND_UNCHECKED,  /* too much to be checked */
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
    char text[160]; /* further text, without data of the original */
};

struct finding_count {
    uint8_t kind;
    const char *what;
    uint64_t count;
    uint64_t rest, rest_digest; /* findings that are not shown */
};

/* A class of secrets in the search. */
struct leak_row {
    uint64_t hits;      /* long ones, in all */
    uint64_t kept;      /* hits that are explained by values that stay */
    uint64_t allowed;   /* by the allow-list */
    uint64_t findings;  /* long ones */
    uint64_t doubtful;  /* hits that may be chance, those of short secrets among them */
    double expected;    /* of |doubtful| */
    double probability; /* of so many hits */
    uint32_t short_count;
};

struct domain_row {
    uint64_t compared, kept; /* values compared; those that were allowed to stay */
    uint64_t same, contradictions, collisions, zero_collisions, changed_to_zero, changed;
    uint64_t foreign;         /* pseudonyms that are equal to other originals */
    double foreign_by_chance; /* number of those that chance explains */
};

struct name_row {
    uint64_t lengths[LENGTHS]; /* distinct names by length of the pseudonym, without kept parts */
    uint64_t distinct, same_length;
    uint64_t suffix, prefix; /* distinct names whose suffix or prefix stayed */
    uint64_t short_seen[SHORT_NAME], short_same[SHORT_NAME];
    struct finding short_findings[FINDINGS_SHOWN]; /* reported if they are too many for chance */
    uint32_t short_finding_count;
    uint64_t paths, paths_flattened;
};

struct residual {
    int64_t first_time, last_time;
    uint64_t timed; /* messages in packets that have a time */
    uint64_t listings, entries, entries_max;
    uint64_t sizes, sizes_unique; /* distinct file sizes, and those of one file only */
    uint64_t calls_by_procedure[32];
};

/* Figures for the text of residual.c. */
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
    struct chains chains; /* of values that must not stay, and of headers */
    struct search *search;
    struct survive *survive; /* not NULL: pairs of messages go only there */
    struct encoded *encoded;

    struct finding findings[FINDINGS_MAX];
    uint32_t finding_count;
    struct finding_count counts[128];
    uint32_t count_rows;
    uint64_t finding_total;

    uint64_t seen[SEEN_PLACES];    /* hashes of values that were collected lately */
    uint64_t seen_ends[SEEN_ENDS]; /* ends of connections that were compared lately */
    struct pair_side hardware;     /* the original's */
    struct pair_side sizes;

    struct source_counts original, anonymized;
    uint64_t matched, missing, surplus, incomplete, unread_bodies;
    bool has_shift, xids_kept, has_attribute_shift;
    int64_t shift;                 /* ns, from original to anonymized */
    uint32_t attribute_shift;      /* s */
    struct pair_side in_times;     /* halves of the original's exclusive CREATEs' verifiers */
    struct pair_side halves;       /* halves of all its verifiers that were tested for a key */
    uint64_t fields[ITEM_CLASSES]; /* compared */
    uint64_t data_zero, data_noise, data_noise_frame;
    struct domain_row domains[DOMAIN_MAX];
    struct name_row names;
    struct leak_row leaks[SECRET_MAX];
    struct residual residual;
    const struct residual_figures *figures; /* NULL: those of this audit; or those of a report */
    uint64_t bytes_searched, message_bytes, message_kept_bytes;

    struct {
        bool done, other_version; /* another version of the program made the file */
        uint64_t messages, bytes;
    } recomputed; /* with the key */

    struct policy_rules *rules; /* of the expected policy */
    struct form form;
    struct keyed keyed;
    bool has_provenance, has_dropped;
    char provenance[160];               /* first line of the comment */
    char policy[64], policy_digest[72]; /* of the expected policy */
    char stated_policy[64];             /* stated by the file */
    char stated_digest[72];
    uint64_t dropped; /* stated by the file */
};

/* audit.c: reports progress, for some of the frames */
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

/* identity.c: returns a hash of a finding, which is the same in every run over the same files. */
uint64_t finding_identity(const struct finding *finding);
struct quote quote_bytes(const void *data, size_t len);
struct quote quote_number(uint64_t number);

/* gather.c: collects the secrets of the original.  Called in a thread of audit_align.c.  Nothing
 * else uses |secrets|, |hardware| and |seen| at that time. */
int gather_message(struct audit *a, const struct audit_message *m, const struct items *items,
                   struct err *err);
/* gather_look makes a note on a frame in another thread, and gather_frame collects from that
 * note. */
int gather_look(void *ctx, const struct frame *frame, struct buf *note, struct err *err);
int gather_frame(struct audit *a, uint64_t frame, const void *note, size_t len, struct err *err);
int gather_metadata(struct audit *a, struct err *err);
/* Values repeat often: |memory| is a direct-mapped cache of the last ones. */
bool seen_lately(uint64_t *memory, uint32_t places, uint64_t seed, const void *data, size_t len);
bool gather_is_seen(struct audit *a, unsigned cls, const void *data, size_t len);

/* Reads an address from a text: alone, as in RFC 5665 s5.2.3, or with a prefix length; with one,
 * |*exact| is false. */
bool text_address(const uint8_t *data, uint32_t len, struct address *out, bool *exact);

/* peek.c: finds hardware and IP addresses in a frame's headers without the engine */
struct peek {
    uint8_t hardware[4][6]; /* also those in ARP */
    unsigned hardware_count;
    struct address address[4];
    unsigned address_count;
};
void peek_frame(const struct frame *frame, struct peek *peek);

/* audit_align.c: compares the messages of both captures in pairs */
int align_captures(struct audit *a, struct err *err);

/* audit.c: reads what the anonymized file states about itself */
int audit_stated(struct audit *a, struct err *err);

/* audit_compare.c */
struct comparer {
    struct audit *audit;
    struct items original, anonymized;
};
int compare_messages(struct comparer *c, const struct audit_message *o,
                     const struct audit_message *n, struct err *err);
int compare_finish(struct audit *a, struct err *err);
/* Returns true for a time that everyone knows and that belongs to no event. */
bool is_constant_time(uint64_t seconds);

/* rules.c: checks the policy, and what all values together show */
void rules_finish(struct audit *a);

/* audit_compare_text.c: compares names, paths, hosts and addresses */
struct place { /* place of the value that is compared */
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

/* leak.c: searches every byte of the anonymized file */
int leak_search(struct audit *a, struct err *err);

/* mask.c: finds the bytes of an anonymized message that may be equal to the original's */
int mask_message(struct audit *a, const struct audit_message *m, const struct items *items,
                 uint8_t *mask, struct err *err);

/* recompute.c: the check with the key; only this part uses the anonymizer */
int recompute_run(struct audit *a, struct err *err);
/* recompute_stated.c: checks the policy that the file states, if the expected one is known */
int recompute_stated(struct audit *a, struct err *err);

/* residual.c: adds a message of the original that has a counterpart to the figures */
void residual_message(struct audit *a, const struct audit_message *m, const struct items *items);
/* Gets each line of text, without values of the original */
typedef void residual_line(void *ctx, const char *topic, const char *text);
void residual_words(const struct audit *a, residual_line *line, void *ctx);
void residual_figures(const struct audit *a, struct residual_figures *figures);

#endif
