/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations that use a few things in any way: whatever conflicts within the horizon must be in
 * order, over however many edges, and no edge may be implied by others.
 *
 * Input: the horizon (a power of two), how often an operation is repeated, then 6 bytes a use. */
#include "depend_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS_MAX = 512, USES_MAX = 2048, USE = 6, WORDS = OPERATIONS_MAX / 64 };

static struct use uses[USES_MAX];
static uint32_t first[OPERATIONS_MAX + 1], use_count, operation_count;
static uint64_t reach[OPERATIONS_MAX][WORDS];

#define require(good) ((good) ? (void)0 : failed(#good))

static void failed(const char *what)
{
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

static bool bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

/* The high bit of its first byte begins an operation. */
static void read_use(const uint8_t in[USE])
{
    struct use *u = &uses[use_count];

    if (in[0] & 128 || operation_count == 0) {
        if (operation_count == OPERATIONS_MAX)
            return;
        first[operation_count++] = use_count;
    }
    *u = (struct use){ .thing = in[0] % (THING_MAX + 1), .object = in[1] % 3, .name = in[2] };
    u->changes = in[0] & 64 && u->thing != THING_NAMES;
    u->start = (uint64_t)in[3] << in[4] % 8;
    u->end = in[4] & 128 ? UINT64_MAX : u->start + in[5];
    use_count++;
}

static bool conflict(uint32_t p, uint32_t q)
{
    for (uint32_t i = first[p]; i < first[p + 1]; i++)
        for (uint32_t k = first[q]; k < first[q + 1]; k++)
            if (uses[i].thing < THING_MAX && uses_meet(&uses[i], &uses[k]))
                return true;
    for (uint32_t k = first[q]; k < first[q + 1]; k++)
        if (use_asks(&uses[k], q - p))
            return true;
    return false;
}

static void check(uint32_t q, const uint32_t *distances, int64_t count, uint32_t horizon,
                  bool is_least)
{
    require(count >= 0 && count <= q);
    memset(reach[q], 0, sizeof(reach[q]));
    for (int64_t i = 0; i < count; i++) {
        uint32_t p = q - distances[i];

        require(distances[i] > 0 && distances[i] <= q && distances[i] < horizon);
        require(i == 0 || distances[i] > distances[i - 1]);
        require(!is_least || !bit(reach[q], p)); /* newest first: an implied one shows */
        reach[q][p / 64] |= UINT64_C(1) << p % 64;
        for (uint32_t w = 0; w < WORDS; w++)
            reach[q][w] |= reach[p][w];
    }
    for (uint32_t p = q - (q < horizon ? q : horizon - 1); p < q; p++)
        require(bit(reach[q], p) || !conflict(p, q));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t horizon, repeat;
    const uint32_t *distances;
    struct depend *d;
    struct err err;

    if (size < 2 + USE || (size - 2) / USE > USES_MAX)
        return 0;
    horizon = 1u << data[0] % 11;
    repeat = 1 + data[1] % 128;
    use_count = operation_count = 0;
    for (size_t at = 2; at + USE <= size; at += USE)
        for (uint32_t i = 0; i < repeat && use_count < USES_MAX; i++) {
            uint8_t in[USE];

            memcpy(in, data + at, USE); /* shifted each time, so that little input does much */
            in[2] = (uint8_t)(in[2] + i);
            in[3] = (uint8_t)(in[3] + i);
            read_use(in);
        }
    first[operation_count] = use_count;
    d = depend_new(horizon, &err);
    require(d != NULL);
    for (uint32_t q = 0; q < operation_count; q++) {
        int64_t count = depend_next(d, uses + first[q], first[q + 1] - first[q], &distances, &err);

        check(q, distances, count, horizon, depend_counts(d)->kept == 0);
    }
    require(depend_counts(d)->operations == operation_count);
    depend_free(d);
    return 0;
}
