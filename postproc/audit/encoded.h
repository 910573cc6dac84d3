/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded.h
 *
 * Finds texts of the original that are encoded in the anonymized file (decode.h): names, paths,
 * targets of links, hosts, addresses as text, metadata.  It also finds digests of values that can
 * all be tried, because they have few values: addresses, ids of users and groups, hosts.  It
 * examines every value of a message that must not stay, and all data beside packets.  The other
 * parts of the file must not have any data (form.h, padding, surplus).
 *
 * Beside packets, it finds 6 bytes of a text, because they are too many for chance there.  In
 * values of messages, it finds ENCODED_LEAST bytes if the pseudonyms of this file give as much by
 * chance with a probability below CHANCE_LIMIT, for all texts and encodings together.  In practice
 * these are names of 12 bytes in a file with up to about 10^7 characters of pseudonyms, and names
 * of 8 bytes in a small one.  Shorter names are found as whole values, if there are too many for
 * chance (encoded_short.h).
 *
 * Memory: encoded_short.h, the patterns of secret.h, ENCODED_VALUES times 10 of digests for each
 * class, a search, two chains, ENCODED_HITS.
 */
#ifndef NFSDIGEST_AUDIT_ENCODED_H
#define NFSDIGEST_AUDIT_ENCODED_H

#include "audit/blocks.h"
#include "audit/secret.h"
#include "link/frame.h"

enum { ENCODED_LEAST = 8, ENCODED_VALUES = 4096, ENCODED_HITS = 1 << 13 };

struct audit;
struct audit_message;
struct items;
struct encoded;

struct encoded *encoded_new(struct err *err);
void encoded_free(struct encoded *e);

/* Adds the digests of a value as it is written: bytes, or a text. */
int encoded_digests(struct encoded *e, enum secret_class cls, const void *data, size_t len,
                    uint64_t frame, struct err *err);
/* Adds the digests of a number or an address, in all ways to write it. */
int encoded_number(struct encoded *e, uint32_t number, uint64_t frame, struct err *err);
int encoded_address(struct encoded *e, const struct address *address, uint64_t frame,
                    struct err *err);

/* Call this when all secrets are collected.  Takes over the texts. */
int encoded_ready(struct audit *a, struct err *err);

/* Examines value |index| of a message.  |mask| says which of its bytes may stay. */
int encoded_value(struct audit *a, const struct audit_message *m, const struct items *items,
                  uint32_t index, const uint8_t *mask, struct err *err);
/* Examines the bytes of a block that are not a packet. */
int encoded_block(struct audit *a, const struct block *block, struct err *err);
/* Call this after all values were examined and the chains are complete.  Judges the hits. */
void encoded_judge(struct audit *a);

#endif
