/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_parts.h
 *
 * Shared by the files of lint.
 */
#ifndef NFSDIGEST_LINT_LINT_PARTS_H
#define NFSDIGEST_LINT_LINT_PARTS_H

#include "base/table.h"
#include "lint/lint.h"
#include "lint/lint_body.h"

enum { LINT_SESSIONS = 64, LINT_ACCESSES = 1 << 16, LINT_XIDS = 1 << 15, LINT_LIMITS = 64 };
enum { LINT_READS = 1 << 16 };
/* |mark| of an effect: what it may change, as it was counted when it was called. */
enum {
    MAY_OBJECT = 1 << 0,
    MAY_PARENT2 = 1 << 1,
    MAY_NEW = 1 << 2,
    MAY_NAME = 1 << 3,
    MAY_NAME2 = 1 << 4,
    MAY_BLOCKS = 1 << 5,
    MAY_LINKS = 1 << 6,    /* of one object that is known, */
    MAY_ANY_LINKS = 1 << 7 /* of any object */
};

/* Contents that a WRITE wrote or a READ read, or attributes with them. */
struct lint_written {
    int64_t by, at;    /* operation, and when it was done */
    uint32_t verifier; /* lint_verifier_id; 0: none */
    bool stable;       /* else a restart of the server may lose it */
    bool read;         /* by a READ */
};

enum range_state { RANGE_UNDER_WAY, RANGE_SPOILED, RANGE_KNOWN };

/* Bytes that one WRITE writes or wrote. */
struct lint_range {
    uint64_t start, end;
    uint8_t digest[16]; /* when |has_digest| */
    struct lint_written written;
    int64_t owed; /* when a COMMIT showed that the client must send it again, or 0, */
    int64_t owed_by;
    uint8_t state; /* enum range_state */
    bool has_digest;
};

/* What is known of one block of a file (base/blocks.h). */
struct lint_block {
    uint64_t index, digest;
    struct lint_written written;
    uint32_t object, epoch; /* known while this is the object's */
    uint32_t active;        /* WRITEs under way */
    uint16_t start, len;    /* the bytes in the block that are known */
    bool known, spoiled;    /* |spoiled|: WRITEs under way overlap */
};

/* What a READ of a range returned.  Known until something changes the file. */
struct lint_read {
    uint64_t offset, count;
    uint8_t digest[16];
    struct lint_written written;
    int64_t called;
    uint32_t object; /* 0: none */
};

/* A finding that is none if the server had restarted before. */
struct lint_held {
    struct effect effect;
    struct lint_written written;
    enum lint_id rule;
    char text[LINT_TEXT_MAX];
};

struct lint_object {
    uint32_t id;
    uint32_t active; /* operations under way that may change it */
    bool identified, known;
    bool unsure;  /* one of them has no reply: it may come into force at any time */
    uint8_t type; /* enum object_type; when |identified| */
    uint64_t fsid, fileid;
    int64_t identified_by, identified_at; /* |identified_at|: first */
    uint32_t server;
    bool elder;   /* it was identified before another one with its fsid and fileid; */
    bool filed;   /* in |by_fileid| */
    bool said;    /* that was found to be wrong, */
    bool aliased; /* or it may be the same object: then it is not judged over time */
    bool rights_unsure;
    uint32_t rights_active; /* operations under way that may change its rights */
    int64_t rights_changed;
    int64_t changed; /* when the last operation that may have changed it was done */
    uint64_t size;   /* when |known| */
    int64_t mtime;
    int64_t known_by, known_at;
    int64_t spoiled;            /* when something else changed its contents, as a reply showed */
    int64_t stale_by, stale_at; /* 0: it was not stale */
    struct lint_range *ranges;
    uint32_t range_count, range_cap;
    bool crowded;         /* more WRITEs were under way than there is room for: none is judged */
    uint32_t epoch;       /* of its blocks */
    uint32_t committed;   /* verifier of the last COMMIT of the whole file, */
    int64_t committed_at; /* and when it was called */
    struct lint_written loose; /* the last UNSTABLE WRITE, until a COMMIT of the whole file */
    uint32_t names;            /* those in this directory: a place in |names|, counted from 1 */
    uint32_t nlink;            /* when |links_known| */
    bool links_known;
    bool links_unsure;     /* one of the operations that may change it has no reply */
    uint32_t links_active; /* operations under way that may change it; for a directory, those that
                            * may remove it */
    int64_t links_by, links_at, links_changed;
};

enum name_state { NAME_UNKNOWN, NAME_THERE, NAME_NOT_THERE };

/* A name in a directory. */
struct lint_name {
    uint64_t hash;             /* of both */
    uint32_t directory;        /* object; 0: this place is free */
    uint32_t object;           /* that it stands for, or 0 */
    uint32_t next, previous;   /* in the same directory, or free: places, counted from 1 */
    uint32_t active;           /* operations under way that may change it */
    uint32_t listed;           /* number of the listing that had it last */
    uint8_t state;             /* enum name_state */
    bool unsure, has_verifier; /* |unsure|: one of them has no reply */
    bool contended;            /* several overlap */
    bool exclusive;            /* the CREATE that made it */
    int64_t known_by, known_at;
    int64_t changed; /* when the last operation that may have changed it was done */
    int64_t listed_by;
    uint64_t verifier; /* of this CREATE, with |has_verifier| */
};

/* What ACCESS answered to one caller. */
struct lint_access {
    uint32_t object, credential; /* 0: none */
    uint32_t wanted, granted;
    int64_t by, called, at;
};

/* A call's XID. */
struct lint_xid {
    uint32_t flow, xid; /* |flow| 0: none */
    int64_t by, called;
};

/* Of a file system: what FSINFO told. */
struct lint_limit {
    uint32_t server, wtmax;
    int64_t by;
    uint64_t fsid, largest; /* of a file */
};

/* Several calls for the entries of one directory, from its beginning on. */
struct lint_session {
    uint32_t client, directory, number;
    uint64_t cookie; /* of the next call */
    int64_t began;
};

struct lint_verifier {
    uint8_t bytes[NFS3_WRITEVERFSIZE];
    int64_t first;    /* operation */
    int64_t replaced; /* when the first operation with a later one was done; INT64_MAX: it is not */
};

struct lint_server {
    uint32_t number, count;
    int64_t last; /* operation with a verifier */
    uint32_t now; /* the verifier of the operation that was called last */
    int64_t now_called;
    struct lint_verifier verifiers[LINT_VERIFIERS];
};

struct lint_entry {
    uint64_t hash;
    struct bytes name;
    uint64_t cookie;
};

struct lint {
    struct lint_options options;
    struct lint_counts counts;
    struct lint_object *objects;
    uint32_t object_count, object_cap, next; /* |next|: the one to forget */
    struct table by_id;
    struct lint_server servers[LINT_SERVERS];
    uint32_t server_count;
    uint32_t range_count, range_next; /* of all objects; the object whose ranges go next */
    uint32_t removing;                /* operations under way that may remove names of any object */
    bool removing_unsure;             /* one of them has no reply */
    int64_t removed;                  /* when the last one was done */
    int64_t blind;                    /* until then, unknown operations may have changed anything */
    const struct lint_body *body;     /* of the operation that is being judged */
    uint32_t verifier;                /* id of that in the reply which is being judged, or 0 */
    int64_t latest;                   /* time of a reply */
    struct lint_block *blocks;
    uint32_t block_count, block_cap, block_next; /* |block_next|: the one to forget */
    struct table by_block;
    uint32_t last_epoch;
    struct lint_held *held;
    uint32_t held_count, held_cap;
    struct table by_fileid;
    bool any_alias;
    struct lint_access *accesses; /* LINT_ACCESSES, or NULL */
    struct lint_xid *xids;        /* LINT_XIDS, or NULL */
    struct lint_read *reads;      /* LINT_READS, or NULL */
    struct lint_limit limits[LINT_LIMITS];
    uint32_t limit_count;
    struct lint_entry *entries;
    uint32_t entry_count, entry_cap;
    struct lint_name *names;
    uint32_t name_count, name_cap, name_free, name_next; /* |name_next|: the one to forget */
    struct table by_name;
    int64_t names_blind; /* until then, names that were not captured may have changed */
    struct lint_session sessions[LINT_SESSIONS];
    uint32_t session_next, session_number;
};

/* Reports a finding.  Returns what the callback returns. */
int lint_report(struct lint *lint, const struct lint_finding *finding, struct err *err);
/* Whether anybody reads the text of a finding: to print it takes longer than to find it. */
static inline bool lint_is_read(const struct lint *lint, enum lint_id id)
{
    return !lint->options.is_read || lint->options.is_read(lint->options.ctx, id);
}
#define LINT_SAY(lint, id, effect, earlier_, err, ...)                                             \
    __extension__({                                                                                \
        char say_[LINT_TEXT_MAX] = "";                                                             \
                                                                                                   \
        if (lint_is_read(lint, id))                                                                \
            snprintf(say_, sizeof(say_), __VA_ARGS__);                                             \
        lint_report(lint, &(const struct lint_finding){ id, effect, earlier_, say_ }, err);        \
    })

/* The same, for what contradicts |written|; it may become LINT_STABLE_LOST. */
#define LINT_SAY_UNLESS_LOST(lint, id, effect, earlier_, written, err, ...)                        \
    __extension__({                                                                                \
        char say_[LINT_TEXT_MAX] = "";                                                             \
                                                                                                   \
        if (lint_is_read(lint, id) ||                                                              \
            ((id) == LINT_READ_CONTENTS && lint_is_read(lint, LINT_STABLE_LOST)))                  \
            snprintf(say_, sizeof(say_), __VA_ARGS__);                                             \
        lint_contradiction(lint, &(const struct lint_finding){ id, effect, earlier_, say_ },       \
                           written, err);                                                          \
    })

/* lint_contents.c: an operation that may change |object| is called, and done; a READ of it is done;
 * something else changed it; it is forgotten. */
int lint_contents_called(struct lint *lint, struct lint_object *object, struct effect *effect,
                         struct err *err);
void lint_contents_done(struct lint *lint, struct lint_object *object, const struct effect *effect);
int lint_contents_judge(struct lint *lint, struct lint_object *object, const struct effect *effect,
                        struct err *err);
/* A COMMIT of it is done. */
void lint_contents_commit(struct lint *lint, struct lint_object *object,
                          const struct effect *effect);
void lint_contents_spoil(struct lint *lint, struct lint_object *object);
void lint_contents_forget(struct lint *lint, struct lint_object *object);

/* lint_blocks.c: the same by blocks; for lint_contents.c.  lint_blocks_spoil: all of them. */
void lint_blocks_called(struct lint *lint, struct lint_object *object, struct effect *effect);
void lint_blocks_done(struct lint *lint, struct lint_object *object, const struct effect *effect,
                      const struct lint_written *written);
void lint_blocks_commit(struct lint *lint, struct lint_object *object, const struct effect *effect);
int lint_blocks_judge(struct lint *lint, struct lint_object *object, const struct effect *effect,
                      struct err *err);
void lint_blocks_spoil(struct lint *lint, struct lint_object *object);

/* lint_reads.c: READs against earlier READs of the same range; for files without digests of blocks.
 * lint_reads_quiet: no operation that may change the object overlapped a READ of it.
 * lint_reads_written: what a READ returned, as contents that are known. */
int lint_reads_judge(struct lint *lint, const struct lint_object *object,
                     const struct effect *effect, struct err *err);
bool lint_reads_quiet(const struct lint *lint, const struct lint_object *object,
                      const struct effect *effect);
struct lint_written lint_reads_written(const struct lint *lint, const struct effect *effect);

/* lint_held.c: reports a finding that contradicts |written|, unless a restart of the server
 * explains it; waits for the next verifier if that is not known yet.  lint_held_release: of
 * |effect|'s server there is a verifier.  lint_held_end: no more will come. */
int lint_contradiction(struct lint *lint, const struct lint_finding *finding,
                       const struct lint_written *written, struct err *err);
int lint_held_release(struct lint *lint, const struct effect *effect, struct err *err);
int lint_held_end(struct lint *lint, struct err *err);
/* Data that clients left uncommitted, or did not send again. */
int lint_owed_end(struct lint *lint, struct err *err);

/* lint_reply.c: one operation by itself. */
int lint_reply(struct lint *lint, const struct effect *effect, const struct lint_body *body,
               struct err *err);

/* lint_listing.c: the entries of one listing. */
int lint_listing(struct lint *lint, const struct effect *effect, const struct lint_body *body,
                 struct err *err);

/* lint_verifier.c; lint_verifier_now: id of the one in force, or 0 */
uint32_t lint_verifier_now(const struct lint *lint, uint32_t server_number);
int lint_verifier(struct lint *lint, const struct effect *effect, const struct lint_body *body,
                  struct err *err);

/* lint_time.c: operations against earlier ones.  lint_time_called notes the objects that the
 * operation may change; lint_time_done judges, and then learns. */
int lint_time_called(struct lint *lint, struct effect *effect, struct err *err);
int lint_time_done(struct lint *lint, const struct effect *effect, struct err *err);

/* lint_names.c: what names stand for.  An entry of a listing that is done, as number |listing| (0:
 * none); sets |again| if this listing had the name in an earlier call.  A directory is forgotten.
 */
void lint_names_called(struct lint *lint, struct effect *effect);
int lint_names_done(struct lint *lint, const struct effect *effect, const struct lint_body *body,
                    struct err *err);
struct lint_listed {
    const struct effect *effect;
    struct bytes name;
    uint32_t listing;
    bool again;
};
int lint_names_listed(struct lint *lint, struct lint_listed *listed, struct err *err);
void lint_names_forget(struct lint *lint, struct lint_object *directory);
/* What a name stands for that |e| removes, or replaces by RENAME.  |mine|: 1 while |e| is under
 * way, 0 before. */
struct lint_taken {
    bool known;      /* else it may be any object */
    bool sure;       /* if |e| works, the object has a name less */
    uint32_t object; /* 0: there was none */
};
struct lint_taken lint_names_taken(struct lint *lint, const struct effect *e, uint32_t mine);

/* lint_links.c: link counts.  An operation that may change some is called before lint_names_called,
 * and done before lint_names_done; one shows attributes of an object.  |quiet|: no other operation
 * that may change the object's contents or entries overlapped; |changes|: this one may. */
int lint_links_called(struct lint *lint, struct effect *e, struct err *err);
int lint_links_done(struct lint *lint, const struct effect *e, struct err *err);
struct lint_links_seen {
    const struct effect *effect;
    struct lint_object *object;
    enum whose whose;
    bool quiet, changes;
};
int lint_links_judge(struct lint *lint, const struct lint_links_seen *seen,
                     const struct attributes *a, struct err *err);

/* lint_session.c: listings of several calls. */
int lint_session(struct lint *lint, const struct effect *effect, struct err *err);

/* lint_xid.c: a call. */
int lint_xid(struct lint *lint, const struct effect *effect, struct err *err);

/* lint_fileid.c: an object was identified; is about to be forgotten, or identified again; was seen.
 */
int lint_fileid_learn(struct lint *lint, struct lint_object *object, struct err *err);
void lint_fileid_forget(struct lint *lint, struct lint_object *object);
int lint_fileid_judge(struct lint *lint, const struct effect *effect, struct lint_object *object,
                      struct err *err);

/* lint_access.c: operations that may change rights, also those of NFSACL; what ACCESS said, and
 * what FSINFO said. */
void lint_rights_called(struct lint *lint, const struct effect *effect);
void lint_rights_done(struct lint *lint, const struct effect *effect);
int lint_access(struct lint *lint, const struct effect *effect, struct err *err);
int lint_limit(struct lint *lint, const struct effect *effect, struct err *err);

/* lint_objects.c: returns the object; makes it if it is new.  NULL: no memory, or |id| is 0.  The
 * pointer lives until the next call. */
struct lint_object *lint_object(struct lint *lint, uint32_t id);

#endif
