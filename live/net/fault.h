/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault.h
 *
 * Faults that a live program injects: rules, each in one text.
 *
 *     READ:path=*.tmp:client=192.0.2.0/24:delay=250ms:p=0.01:count=5
 *     WRITE:every=100:status=NFS3ERR_NOSPC
 *     MOUNT.*:drop
 *
 * The first word is a procedure of NFSv3, MOUNT or NFSACL as the tables of engine/wire name it;
 * with a program in front it means only that program's procedure.  PROGRAM.* means a whole
 * program, and * means everything.  The other words are conditions and effects, each at most once;
 * fault_help lists them.  Their table is in fault_words.c.
 *
 * A rule applies if all its conditions hold.  |after|, |every|, |p| and |count| apply in this
 * order, to the requests that meet the others.  The random numbers for |p| depend only on the seed
 * and the rule's text, so the same requests in the same order get the same faults.
 *
 * In a path, * stands for any bytes, also slashes, ? for one byte; \xNN is a byte (colons are \x3a)
 * and \\ a backslash, as in base/escape.h.
 *
 * Memory: at most FAULTS_MAX rules of about 3 KiB.
 */
#ifndef NFSDIGEST_NET_FAULT_H
#define NFSDIGEST_NET_FAULT_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { FAULTS_MAX = 256, FAULT_TEXT_MAX = 1024 };

/* The effects of faults.  If an effect has a number, struct fault_effects has it. */
enum fault_effect {
    /* between the peers */
    FAULT_DELAY,      /* the reply is sent that many ns later */
    FAULT_IGNORE,     /* the call is neither executed nor answered */
    FAULT_DROP,       /* it is executed, but not answered */
    FAULT_CLOSE,      /* the connection is closed instead of an answer */
    FAULT_TWICE,      /* the reply is sent twice */
    FAULT_FORGET,     /* retransmissions are executed again */
    FAULT_RPC_STATUS, /* the call is not executed; enum rpc_status */
    FAULT_MALFORMED,  /* the results end too early */
    /* what the server does */
    FAULT_STATUS, /* it is not executed; the status of the result */
    FAULT_EOF,    /* |eof| is the opposite */
    FAULT_SHORT,  /* half of the bytes are read or written */
    FAULT_WRONG_BYTES,
    FAULT_LOSE_UNSTABLE,
    FAULT_VERIFIER,  /* the write verifier changes */
    FAULT_COMMITTED, /* enum stable_how */
    FAULT_SKIP_ENTRY,
    FAULT_TWICE_ENTRY,
    FAULT_COOKIE_VERIFIER,
    /* attributes and handles */
    FAULT_NO_ATTRIBUTES,
    FAULT_NO_BEFORE,
    FAULT_BEFORE_CURRENT,
    FAULT_NO_HANDLE,
    FAULT_HANDLE,
    FAULT_NO_ATIME,
    FAULT_KEEP_TIMES,
    FAULT_SHIFT_TIMES, /* ns */
    FAULT_MODE_BITS,   /* to be xor'ed */
    FAULT_LINK_COUNT,
    FAULT_SIZE,
    FAULT_FILEID,
    FAULT_FSID,
    FAULT_EFFECTS
};

struct fault_effects {
    uint64_t set; /* 1 << enum fault_effect */
    /* Numbers of the effects that are set and have one.  If several rules apply, delays and shifts
     * are added, and mode bits are xor'ed.  For the others, the first rule's number counts. */
    uint64_t value[FAULT_EFFECTS];
};

static inline bool fault_has(const struct fault_effects *effects, enum fault_effect effect)
{
    return effects->set >> effect & 1;
}

struct sockaddr;

/* The values that conditions can check.  A condition on a missing value does not hold. */
struct fault_request {
    uint32_t program, procedure;
    const char *path;    /* NULL: not known */
    uint32_t path_len;   /* bytes */
    struct bytes object; /* handle */
    const struct sockaddr *client;
    uint32_t uid;
    bool has_uid;
};

struct faults;

struct faults *faults_new(uint64_t seed, struct err *err);
void faults_free(struct faults *faults); /* NULL is allowed */

/* From now on, only rules with some of |effects| (bits of enum fault_effect) can be added, and none
 * with a path or an object.  |who| is "a relay" in messages, and lives as long as |faults|. */
void faults_limit(struct faults *faults, const char *who, uint64_t effects);

/* Adds a rule at the end; |number|, from 1 and never used again, may be NULL.  -ERR_USAGE: the text
 * names the word, and what is allowed. */
int faults_add(struct faults *faults, const char *text, uint32_t *number, struct err *err);
/* -ERR_USAGE: there is no such rule. */
int faults_remove(struct faults *faults, uint32_t number, struct err *err);
void faults_clear(struct faults *faults);

struct fault_info {
    uint32_t number;
    const char *text;  /* faults_add reads it as the same rule; valid as long as the rule exists */
    uint64_t requests; /* requests that met the conditions other than after, every, p and count */
    uint64_t hits;
};
uint32_t faults_count(const struct faults *faults);
/* |index| < faults_count. */
struct fault_info faults_info(const struct faults *faults, uint32_t index);

/* Returns true if there is a rule for the procedure.  Only then the request's path is needed. */
bool faults_concern(const struct faults *faults, uint32_t program, uint32_t procedure);

/* Finds the effects for a request, and counts it.  Returns false, with |effects|->set 0, if there
 * are none. */
bool faults_apply(struct faults *faults, const struct fault_request *request,
                  struct fault_effects *effects);

/* Appends the words that rules of |faults| can have to |out|, one a line; NULL: all words.  Returns
 * 0 or -ERR_SYSTEM. */
int fault_help(const struct faults *faults, struct buf *out);

#endif
