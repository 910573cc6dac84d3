/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_top.c
 *
 * The counts of "nfsdigest top", by any records in any order: each step takes 8 bytes.  The rows of
 * a table and its others together are the whole, after each interval.
 */
#include "top/top_parts.h"
#include "wire/field.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>

enum { STEP = 8 };

/* A step: what, and small numbers that are ids often, and sometimes are not. */
struct step {
    uint8_t what, a, b, c;
    uint32_t wide;
};

static void put(struct top *top, const struct record *r)
{
    const struct sink sink = top_sink(top);
    struct err err = { 0 };
    int result = sink.put(sink.ctx, r, &err);

    if (result < 0 && (result != -ERR_INPUT || !err.text[0]))
        abort();
}

static void put_name(struct top *top, const struct step *s, const uint8_t *bytes)
{
    struct record r = { .kind = RECORD_FLOW };

    if (s->what % 5 == 0) {
        r.flow.id = s->a;
        r.flow.client = (struct address){ .version = 4, .bytes = { 10, s->b, s->c } };
        r.flow.server = (struct address){ .version = 6, .bytes = { 1 } };
    } else if (s->what % 5 == 1) {
        r.kind = RECORD_CREDENTIAL;
        r.credential = (struct record_credential){
            .id = s->a, .flavor = s->b & 1, .valid = s->b & 2, .uid = s->wide
        };
    } else if (s->what % 5 == 2) {
        r.kind = RECORD_OBJECT;
        r.object = (struct record_object){ .id = s->a,
                                           .server = { .version = 4 + (s->b & 2), .bytes = { 1 } },
                                           .fsid = s->c % 4,
                                           .fileid = s->wide % 4 };
    } else if (s->what % 5 == 3) {
        r.kind = RECORD_NAME;
        r.name = (struct record_name){
            .event = NAME_SEEN, .parent = s->b & 1, .name = { bytes, s->c % STEP }, .object = s->a
        };
    } else {
        r.kind = RECORD_PATH;
        r.path = (struct record_path){
            .id = s->a, .parent = s->b, .object = s->c & 3, .name = { bytes, s->c % STEP }
        };
    }
    put(top, &r);
}

static void put_operation(struct top *top, const struct step *s)
{
    struct record r = { .kind = RECORD_OPERATION };

    r.operation = (struct record_operation){
        .id = s->wide % 100000,
        .flow = s->a,
        .program = s->b & 64 ? NFS3_PROGRAM : s->wide,
        .version = NFS3_VERSION,
        .procedure = s->b % 24,
        .credential = s->c % 16,
        .object = s->a % 8,
        .new_object = s->b % 8,
        .path = s->c,
        .path2 = s->a,
        .call = { .frame = s->b & 1, .time = s->b & 2 ? TIME_NONE : s->wide, .flags = s->a },
        .reply = { .frame = s->b & 4, .time = s->b & 8 ? TIME_NONE : INT64_MAX - s->wide },
        .rpc_status = s->b & 16 ? STATUS_NONE : s->c % 3,
        .status = s->b & 32 ? STATUS_NONE : (int64_t)(s->wide % 80),
        .data_length = s->wide,
    };
    r.operation.reply.flags = s->c & 1 ? SIGHTING_DATA : 0;
    put(top, &r);
}

static void put_repeat(struct top *top, const struct step *s)
{
    struct record r = { .kind = RECORD_REPEAT };

    r.repeat = (struct record_repeat){ .operation = s->wide % 100000,
                                       .repeat = (uint8_t)(1 + s->b % 4),
                                       .flow = s->a };
    put(top, &r);
}

static void expect_sums(const struct top *top, bool last)
{
    const struct top_counts *whole = top_whole(top, last);

    for (int by = 0; by < TOP_TABLES; by++) {
        const struct top_table *t = top_table(top, (enum top_by)by);
        struct top_counts sum = *top_others(top, (enum top_by)by, last);
        const struct top_row *rows[TOP_ROWS];

        for (uint32_t i = 0; i < t->count; i++)
            top_counts_merge(&sum, last ? &t->rows[i].last : &t->rows[i].all);
        if (memcmp(&sum, whole, sizeof(sum)) != 0)
            abort();
        if (top_sorted(top, (enum top_by)by, TOP_P99, last, rows, TOP_ROWS) > t->count)
            abort();
    }
}

static void run(struct top *top, const struct step *s, const uint8_t *bytes)
{
    switch (s->what / 32) {
    case 0:
    case 1:
    case 2:
        put_name(top, s, bytes);
        return;
    case 3:
    case 4:
        put_operation(top, s);
        return;
    case 5:
        put_repeat(top, s);
        return;
    case 6:
        if (s->what & 1)
            top_forget(top);
        else
            for (uint32_t i = 0; i < s->a; i++) /* many clients */
                put_operation(top, &(struct step){ 0, (uint8_t)i, s->b, s->c, s->wide + i });
        return;
    default:
        top_waiting_begin(top);
        for (uint32_t i = 0; i < s->a % 4; i++)
            put_operation(top, &(struct step){ 0, s->b, 65, s->c, s->wide + i });
        top_waiting_end(top);
        expect_sums(top, false);
        top_next(top);
        expect_sums(top, true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct top_setup setup = { .filter = { .uid = len && len % 5 == 0 ? data[0] : UINT64_MAX,
                                                 .path = len % 7 ? NULL : "/" } };
    struct err err;
    struct top *top;

    wire_init();
    top = top_new(&setup, &err);
    if (!top)
        abort();
    for (; len >= STEP; data += STEP, len -= STEP) {
        const struct step s = { data[0], data[1], data[2], data[3], load_be32(data + 4) };

        run(top, &s, data);
    }
    expect_sums(top, false);
    top_free(top);
    return 0;
}
