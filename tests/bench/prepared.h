/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/prepared.h
 *
 * Calls of a client and the replies of a server, as bench_prepare saw them pass, in a file: for
 * bench_responder, which gives the replies again, and for bench_libnfs and bench_floor, which make
 * the calls again.
 *
 * The file is a row of: length of the call, length of the reply (both uint32_t of this machine),
 * the call and the reply, each from its XID on; in the order of the replies.
 *
 * A reply is found by its call.  Calls that are the same beside the XID get their replies in the
 * order of the file; when there are no more, the last one again.
 */
#ifndef NFSDIGEST_BENCH_PREPARED_H
#define NFSDIGEST_BENCH_PREPARED_H

#include <stdbool.h>
#include <stdint.h>

struct prepared_entry {
    const uint8_t *call, *reply;
    uint32_t call_len, reply_len;
    uint64_t key;
    uint32_t next; /* entry of the same key; PREPARED_NONE: the last one */
};

enum { PREPARED_NONE = 0xffffffffu };
/* Offsets in a call, RFC 5531 s9: program, version, procedure; credential. */
enum { PREPARED_CALL = 12, PREPARED_CREDENTIAL = 24, PREPARED_LEAST = 40 };

struct prepared {
    struct prepared_entry *entries;
    uint32_t count;
    bool any_credential; /* calls are the same if only their credentials differ */
    struct prepared_slot *slots;
    uint32_t mask;
};

/* Where the arguments of a call begin; 0: it is no call. */
uint32_t prepared_arguments(const uint8_t *call, uint32_t len);

/* Maps the file.  Ends the program if that is not possible. */
void prepared_open(struct prepared *prepared, const char *path, bool any_credential);
/* By which its reply is found; 0: it is no call. */
uint64_t prepared_key(const struct prepared *prepared, const uint8_t *call, uint32_t len);
/* The reply to the call of this key, or NULL. */
const struct prepared_entry *prepared_find(struct prepared *prepared, uint64_t key);

/* The file is longer than any cache.  So what prepared_find and its caller will read is fetched
 * ahead, in three steps, each of which reads what the one before it has fetched. */
enum { PREPARED_STEPS = 3 };
void prepared_expect(const struct prepared *prepared, uint64_t key, int step);

#endif
