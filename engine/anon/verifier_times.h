/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/verifier_times.h
 *
 * Finds verifiers that are stored as times.  A server that gets an exclusive CREATE keeps the
 * client's verifier in atime and mtime of the new file (RFC 1813 s3.3.8) until the client sets
 * them. knfsd and Ganesha put one half of it into the seconds of each, and 0 into the nanoseconds;
 * knfsd leaves out the highest bit, so it keeps 62 of 64 bits.  A server may also put both halves
 * into one time, as seconds and nanoseconds.  Each server takes the halves as numbers of its own
 * byte order.
 *
 * The pseudonym of such a time depends only on key, policy and value.  Such times are recognized by
 * the verifiers of CREATEs that were seen, and by values that no time has: 10^9 nanoseconds or
 * more, or seconds after 2038-01-19 without nanoseconds.  So two captures agree, unless only one of
 * them has the CREATE: the other capture then shows a number that it cannot recognize as a
 * verifier.
 *
 * Memory: 8 KiB, and 256 KiB as soon as there was a verifier: the halves of about the last 32,768.
 */
#ifndef NFSDIGEST_ANON_VERIFIER_TIMES_H
#define NFSDIGEST_ANON_VERIFIER_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* The two bits of half a verifier that some servers do not keep: the sign bits in either byte
 * order. */
#define VERIFIER_SIGNS 0x80000080u

enum { VERIFIER_FILTER_BITS = 1 << 16 };

/* Begins with all zeros. */
struct verifier_times {
    uint32_t *halves;                           /* in sets */
    uint64_t filter[VERIFIER_FILTER_BITS / 64]; /* bits that are set for each of them */
    uint32_t next;
};

void verifier_times_free(struct verifier_times *t);

/* Remembers the verifier of an exclusive CREATE, as it is in the message.  Returns -1 if there is
 * no memory; then it is not remembered. */
int verifier_times_add(struct verifier_times *t, const uint8_t verifier[8]);

/* The byte order in which half a verifier became a number of a time.  CUT: its sign was cut off. */
enum verifier_order {
    VERIFIER_NONE,
    VERIFIER_LITTLE,
    VERIFIER_LITTLE_CUT,
    VERIFIER_BIG,
    VERIFIER_BIG_CUT
};

/* Judges seconds alone, while the nanoseconds are not known. */
enum verifier_order verifier_times_find(const struct verifier_times *t, uint32_t number);
/* Judges seconds and nanoseconds.  Returns the order of the seconds.  |*nsec_order| becomes
 * VERIFIER_NONE if the nanoseconds are true nanoseconds. */
enum verifier_order verifier_times_judge(const struct verifier_times *t, uint32_t seconds,
                                         uint32_t nsec, enum verifier_order *nsec_order);

static inline bool verifier_times_filter(const struct verifier_times *t, uint32_t half)
{
    uint32_t bit = (half & ~VERIFIER_SIGNS) * 0x9e3779b1u >> 16;

    return t->filter[bit / 64] >> bit % 64 & 1;
}

/* Returns false for nearly all true times.  verifier_times_judge is then not needed, because it
 * would say the same. */
static inline bool verifier_times_maybe(const struct verifier_times *t, uint32_t seconds,
                                        uint32_t nsec)
{
    uint32_t number = nsec ? nsec : seconds;

    return nsec >= 1000000000 || (!nsec && seconds > INT32_MAX) ||
           verifier_times_filter(t, number) || verifier_times_filter(t, __builtin_bswap32(number));
}

#endif
