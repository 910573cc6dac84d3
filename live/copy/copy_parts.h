/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_parts.h
 *
 * For the files of the synchronizer alone:
 *
 *     copy.c            which objects are copied, and when each goes on
 *     copy_end.c        how the copy of an object ends: pauses, the host is told
 *     copy_call.c       calls and their answers, --sync-rate
 *     copy_file.c       a file's contents
 *     copy_directory.c  listings of both sides
 *     copy_name.c       one name on the SUT is to stand for one object
 *     copy_make.c       the calls that make it
 *     copy_remove.c     one name on the SUT has to go
 *     copy_scratch.c    the directory for what is between two names, and for what is removed
 *     copy_play.c       attributes, and the changes of the set
 *     copy_acl.c        access control lists
 *     copy_names.c      sets of names
 *
 * An object that is copied has a job, and a job has lanes: each has one call under way, or waits.
 * Answers go to the lane's function |took|.  A job that ends, or begins again, only says so
 * (job->end): copy_look does it at the end of the round, when its last call was answered.
 */
#ifndef NFSDIGEST_COPY_PARTS_H
#define NFSDIGEST_COPY_PARTS_H

#include "copy/copy.h"
#include "mirror/popularity.h"
#include "net/bound_call.h"

/* RFC 1813 s3.3 */
enum copy_procedure {
    COPY_GETATTR = 1,
    COPY_SETATTR = 2,
    COPY_LOOKUP = 3,
    COPY_READLINK = 5,
    COPY_READ = 6,
    COPY_WRITE = 7,
    COPY_CREATE = 8,
    COPY_MKDIR = 9,
    COPY_SYMLINK = 10,
    COPY_MKNOD = 11,
    COPY_REMOVE = 12,
    COPY_RMDIR = 13,
    COPY_RENAME = 14,
    COPY_LINK = 15,
    COPY_READDIR = 16,
    COPY_READDIRPLUS = 17,
    COPY_COMMIT = 21,
};

/* nfs_acl.x, version 3 */
enum { COPY_GETACL = 1, COPY_SETACL = 2, COPY_ACL_VERSION = 3 };

enum copy_side { REFERENCE, SUT };

enum {
    ROUNDS_MAX = 16, /* times that the copy of an object begins again before it has a pause */
    EMPTY_MAX = 30,  /* READs and WRITEs in a row that moved nothing */
    NAME_TRIES = 4,  /* look-ups of a name that others change on the SUT */
    PAUSES_MAX = 2048,
    STASH_MAX = 4096,
    SCRATCH_NAME = 32,
};

struct job;
struct lane;

typedef int took_fn(struct lane *lane, struct bytes body, struct err *err);
typedef int lane_fn(struct lane *lane, struct err *err);

struct copy_handle {
    uint8_t len, data[MIRROR_HANDLE_MAX];
};

/* What a name is about. */
struct name_work {
    struct copy_handle directory; /* of the SUT */
    uint8_t name_len, name[MIRROR_NAME_MAX];
    struct copy_handle child; /* of the reference */
    bool has_attributes;      /* of |child|: */
    struct fattr3 attributes;
    struct bytes link_text; /* of a set that is played; 0 bytes: not known */
    bool is_there;          /* on the SUT, maybe */
    bool was_made;          /* by us, just now */
    bool plays;             /* of a set */
    bool is_new;            /* the child got its handle on the SUT just now */
    bool is_alive;          /* what has to go lives on under another name */
    bool takes;             /* it removes one of several names of what was found */
    uint8_t tries;
    struct copy_handle found; /* on the SUT */
    uint32_t found_type, found_nlink;
    struct specdata3 found_device;
    uint32_t number; /* in the scratch directory */
    lane_fn *found_then;
    lane_fn *then; /* it was removed */
    lane_fn *scratch_then;
};

struct lane {
    struct bound_call call; /* first */
    struct job *job;
    took_fn *took;
    struct lane *next; /* of those that wait for --sync-rate, or for the scratch directory */
    lane_fn *paced;
    bool busy;
    uint8_t side, empty;
    uint32_t charged;
    uint64_t offset, end; /* a piece of a file */
    struct name_work work;
};

enum job_end {
    JOB_GOES_ON,
    JOB_BEGINS_AGAIN,
    JOB_FAILED,
    JOB_DROPPED, /* the object's state was changed by others */
    JOB_DONE,
};

enum job_stage {
    STAGE_SINCE, /* waits until no call is outstanding that began before the set */
    STAGE_WORK,
    STAGE_LISTED, /* waits for the position of a listing's reply */
    STAGE_READ,   /* waits for the position of the last reply, and until it is quiet */
    STAGE_PLAY,
};

struct name_set {
    uint64_t *hashes; /* 0: free */
    uint64_t count, room;
};

struct range {
    uint64_t from, to;
};

struct job {
    struct copy *copy;
    struct mirror_object *object; /* NULL: the sweeper, or free */
    bool used, is_sweeper, feeding, has_noted;
    bool retaken; /* it was queued and taken while this copy of it was ending */
    uint8_t stage, end;
    uint32_t calls; /* outstanding */
    uint32_t rounds, behind, looks;
    uint64_t since, position;
    uint32_t xid; /* of the call whose position is wanted */
    bool wants_position, has_position;
    int64_t waits_since;
    enum copy_why why;
    char text[COPY_TEXT];
    struct copy_handle sut;
    bool has_first, has_attributes;
    struct fattr3 first, attributes; /* of the reference: of this round's first and last reply */
    struct buf acl;                  /* the result of GETACL; empty: there is none */
    /* Gives an idle lane something to do: 1; 0: there is nothing more. */
    int (*feed)(struct job *job, struct lane *lane, struct err *err);
    int (*fed)(struct job *job, struct err *err); /* all is done */
    lane_fn *then;                                /* after attributes were set */
    /* a file */
    struct range *ranges;
    uint32_t range_count, range_at, range_cap;
    uint64_t range_offset;
    bool skips_zeros, begins_with_zeros, unstable, has_verifier, is_short;
    bool needs_cut; /* the SUT's file may have more than what was written, up to |written| */
    uint64_t written;
    uint8_t verifier[NFS3_WRITEVERFSIZE];
    /* a directory */
    struct name_set wanted, there;
    uint64_t matched;
    uint8_t side;
    bool is_plus, list_ends;
    uint32_t list_tries;
    uint64_t cookie;
    uint8_t cookie_verifier[NFS3_COOKIEVERFSIZE];
    struct buf list;
    struct entryplus3 *entries;
    uint32_t entry_count, entry_at;
    /* playing */
    struct change_cursor cursor;
    struct change change;
    uint64_t play_offset;
    bool owner_refused, has_overlay, is_sized;
    struct sattr3 overlay; /* attributes that the set has */
    struct lane lanes[COPY_LANES];
};

struct pause {
    uint32_t object, tries;
    int64_t until; /* 0: it is over, and the object may fail again */
};

struct stash {
    uint32_t object, number;
    bool is_pending; /* it may still have its old name, or not have the new one */
};

struct scratch {
    enum { SCRATCH_NONE, SCRATCH_MAKING, SCRATCH_THERE, SCRATCH_REMOVING } state;
    char name[SCRATCH_NAME];
    struct copy_handle handle;
    struct lane *waiting;
    struct stash stashes[STASH_MAX];
    uint32_t stash_count, last_number;
    bool has_trash;
    int64_t sweep_at, wait;   /* not before; until the next look */
    uint32_t looked;          /* stashes, in this look */
    struct copy_handle swept; /* the directory whose names are removed */
    char swept_name[SCRATCH_NAME];
};

struct copy {
    struct copy_setup setup;
    struct job *jobs;
    struct job sweeper;
    struct idle idle;
    struct timer timer;
    bool ended;
    struct copy_counts counts;
    uint64_t seed;            /* of the hashes of names */
    bool no_plus;             /* the reference does not have READDIRPLUS */
    bool no_acl[2];           /* enum copy_side: it does not have NFSACL */
    int64_t hold_until, hold; /* a server does not answer */
    int64_t next_object, next_byte;
    struct lane *paced, **paced_end;
    struct pause pauses[PAUSES_MAX];
    uint32_t pause_count;
    int64_t next_pause; /* no pause ends before */
    struct copy_handle root;
    struct scratch scratch;
};

static inline struct bytes handle_bytes(const struct copy_handle *handle)
{
    return (struct bytes){ handle->data, handle->len };
}

static inline void handle_set(struct copy_handle *to, struct bytes from)
{
    to->len = from.len <= MIRROR_HANDLE_MAX ? (uint8_t)from.len : 0;
    if (to->len)
        memcpy(to->data, from.data, to->len);
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

static inline struct bytes text_bytes(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

/* It is gone, or its handle was never good. */
static inline bool status_is_gone(uint32_t status)
{
    return status == NFS3ERR_STALE || status == NFS3ERR_NOENT || status == NFS3ERR_BADHANDLE;
}

/* --- copy.c */
void copy_look_later(struct copy *copy);
/* Lets idle lanes work, as long as there is something; calls |fed| when all are done. */
int copy_job_feed(struct job *job, struct err *err);
int copy_lane_done(struct lane *lane, struct err *err);
struct lane *
copy_job_lane(struct job *job); /* the first one, for steps that have one call at a time */
/* Begins the stage, which copy_look ends. */
int copy_job_wait(struct job *job, enum job_stage stage);
/* Reads the object. */
int copy_job_work(struct job *job, struct err *err);
/* Another lane removes one of the names of the same object on the SUT. */
bool copy_is_taken(const struct copy *copy, const struct lane *lane);
bool copy_job_is_ours(const struct job *job); /* the object's state is still what the job made it */
int copy_job_start(struct job *job, struct mirror_object *object, struct err *err);
struct job *copy_job_of(struct copy *copy, const struct mirror_object *object);

/* --- copy_end.c */
/* All return 0, for callers that return it. */
int copy_job_begins_again(struct job *job);
int copy_job_failed(struct job *job, enum copy_why why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A status that the step does not expect. */
int copy_job_refused(struct lane *lane, uint32_t status);
void copy_job_ends(struct job *job, enum job_end end);
/* Sets another state, and tells the host if the object was synchronized. */
int copy_leaves(struct copy *copy, struct mirror_object *object, enum mirror_state state,
                const char *text, struct err *err);
/* The SUT does not have it any more: its handle is forgotten, its state is MIRROR_UNKNOWN. */
int copy_lose(struct copy *copy, struct mirror_object *object, struct err *err);
/* The same, and its directory makes it again. */
int copy_make_again(struct copy *copy, struct mirror_object *object, struct err *err);
/* Returns 1 if the host does not want the object any more, since it has another name on the
 * reference: its handle is forgotten, its state is MIRROR_EXCLUDED.  0: it wants it. */
int copy_leave_out(struct copy *copy, struct mirror_object *object, struct err *err);
int copy_job_settle(struct job *job, struct err *err);
bool copy_is_pausing(const struct copy *copy, const struct mirror_object *object);
void copy_forget_pause(struct copy *copy, const struct mirror_object *object);
int copy_end_pauses(struct copy *copy, int64_t now, struct err *err);
/* Frees what the job has besides its lanes. */
void copy_job_clear(struct job *job);
/* What was noted since its copy began; NULL: it has not begun. */
static inline struct change_set *copy_job_changes(const struct job *job)
{
    return mirror_changes(job->copy->setup.mirror, job->object);
}
void copy_job_close_set(struct job *job);

/* --- copy_call.c */
int copy_lane_call(struct lane *lane, enum copy_side side, uint32_t procedure,
                   const void *arguments, took_fn *took, struct err *err);
/* The same to the reference; its reply's position is wanted. */
int copy_lane_last_call(struct lane *lane, uint32_t procedure, const void *arguments, took_fn *took,
                        struct err *err);
/* The same by NFSACL; the latter one is GETACL. */
int copy_lane_acl_call(struct lane *lane, enum copy_side side, uint32_t procedure,
                       const void *arguments, took_fn *took, struct err *err);
int copy_lane_last_acl_call(struct lane *lane, const void *arguments, took_fn *took,
                            struct err *err);
/* Reads the body into |result|, a struct of the procedure; returns its status. */
uint32_t copy_lane_result(const struct lane *lane, struct bytes body, void *result);
/* Calls |paced| when --sync-rate allows to read |bytes| more. */
int copy_lane_pace(struct lane *lane, uint32_t bytes, lane_fn *paced, struct err *err);
void copy_lane_charge(struct lane *lane, uint32_t bytes); /* so many they were */
int copy_run_paced(struct copy *copy, struct err *err);
void copy_drop_waiting(struct job *job); /* its lanes wait for nothing more */

/* --- copy_acl.c */
/* The reference may have a list for an object like this. */
bool copy_acl_has(const struct job *job);
int copy_acl_look(struct job *job, struct err *err);
/* The server does not have NFSACL: goes on without. */
int copy_acl_unavailable(struct lane *lane, struct err *err);
/* Sets it on the SUT, and then the attributes. */
int copy_acl_set(struct job *job, struct err *err);

/* --- copy_file.c, copy_directory.c */
int copy_file_begin(struct job *job, struct err *err);
/* The set lacks contents: reads them again. */
int copy_file_more(struct job *job, struct err *err);
int copy_directory_begin(struct job *job, struct err *err);
int copy_directory_listed(struct job *job, struct err *err);
/* Lists |directory| on |side| from the cookie on; then |took|, if there is no error. */
int copy_directory_list(struct job *job, enum copy_side side, struct bytes directory, took_fn *took,
                        struct err *err);
/* Reads a reply into job->entries; false: not possible, the job has ended. */
bool copy_directory_keep(struct job *job, struct bytes body, struct post_op_attr *attributes);

/* --- copy_name.c, copy_make.c, copy_remove.c: of lane->work; lane_done at the end */
bool copy_name_is(struct lane *lane, struct bytes name); /* false: no name that the SUT can have */
int copy_name_begin(struct lane *lane, struct err *err);
int copy_name_look(struct lane *lane, struct err *err); /* what has it on the SUT? */
int copy_name_make(struct lane *lane, struct err *err);
/* The child has the name. */
int copy_name_stands(struct lane *lane, struct err *err);
int copy_name_remove(struct lane *lane, struct err *err);                  /* then lane_done */
int copy_name_displace(struct lane *lane, lane_fn *then, struct err *err); /* |found| is known */
/* LOOKUP on the SUT; |then| with |found|; |found|.len 0: there is nothing. */
int copy_name_find(struct lane *lane, lane_fn *then, struct err *err);
struct mirror_object *copy_name_child(const struct lane *lane);
struct diropargs3 copy_name_where(const struct lane *lane);

/* --- copy_scratch.c */
void copy_scratch_init(struct copy *copy);
int copy_scratch_wait(struct lane *lane, lane_fn *then, struct err *err);
uint32_t copy_scratch_number(struct copy *copy, char name[SCRATCH_NAME]);
void copy_scratch_put(struct copy *copy, uint32_t object, uint32_t number);
void copy_scratch_settled(struct copy *copy, uint32_t number); /* it has lost its old name */
bool copy_scratch_find(const struct copy *copy, uint32_t object, char name[SCRATCH_NAME]);
void copy_scratch_forget(struct copy *copy, uint32_t object); /* it is no longer there */
void copy_scratch_drop(struct copy *copy, uint32_t object);   /* it is trash */
int copy_scratch_look(struct copy *copy, struct err *err);
void copy_scratch_sweeper_failed(struct copy *copy);

/* --- copy_play.c */
/* The copy is complete as far as it was read. */
int copy_job_read_all(struct job *job, struct err *err);
int copy_job_play(struct job *job, struct err *err);
int copy_attributes_begin(struct job *job, struct err *err); /* of what has only attributes */
/* Asks the reference if the object still is what it was; then, if not, |copy_job_work|. */
int copy_same_begin(struct job *job, struct err *err);
/* GETACL or GETATTR of the reference, whose position is wanted; then STAGE_READ. */
int copy_job_last_look(struct job *job, struct err *err);
int copy_job_look_at_attributes(struct job *job, struct err *err); /* GETATTR */
int copy_job_looked(struct lane *lane, const struct fattr3 *attributes);
int copy_job_set_attributes(struct job *job, struct err *err); /* on the SUT; then it has ended */
void copy_job_saw_attributes(struct job *job, const struct fattr3 *attributes);

/* --- copy_names.c */
uint64_t copy_name_hash(const struct copy *copy, struct bytes name);
int copy_name_set_add(struct name_set *set, uint64_t hash); /* 1: it was there; -ERR_SYSTEM */
bool copy_name_set_has(const struct name_set *set, uint64_t hash);
void copy_name_set_free(struct name_set *set);

#endif
