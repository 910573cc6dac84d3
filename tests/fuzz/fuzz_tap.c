/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_tap.c
 *
 * Any entries of a ring to a tap.  The input is steps: kind, connection (3 bits, and the bits
 * below), flags, lost entries, a step of the offset (4 bytes), a length (2 bytes), and as many
 * bytes.  The tap may not name entries that do not exist yet.  If nothing is missing and all can be
 * read, the same bytes in smaller pieces must give the same operations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "relay/relay_entry.h"
#include "tap/tap.h"

enum {
    CONNECTION = 7,
    FAR = 0x20, /* the step is multiplied by 2^32 */
    RAW = 0x40, /* RELAY_OPEN: the bytes are its payload */
    V6 = 0x80,
    STEP = 10,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct tap *tap;
    uint64_t next[8][2]; /* offsets */
    uint64_t number;
    uint32_t most; /* bytes of an entry */
    uint64_t operations, digest, problems, gaps;
};

static int on_record(void *ctx, const struct record *record, struct err *err)
{
    struct run *r = ctx;
    const struct record_operation *op = &record->operation;
    const uint64_t values[] = { r->digest, op->xid, op->procedure, op->arguments.len,
                                op->result.len };

    (void)err;
    r->problems += record->kind == RECORD_PROBLEM;
    if (record->kind != RECORD_OPERATION)
        return 0;
    if (op->call.frame > r->number || op->reply.frame > r->number ||
        op->call.first_frame > op->call.frame)
        abort();
    r->operations++;
    r->digest = XXH3_64bits(values, sizeof(values));
    return 0;
}

static int on_gap(void *ctx, const struct tap_gap *gap, struct err *err)
{
    struct run *r = ctx;

    (void)err;
    r->gaps++;
    if (gap->first > gap->last || gap->last >= r->number)
        abort();
    return 0;
}

static void give(struct run *r, struct ring_got *got)
{
    r->number += 1 + got->lost;
    got->entry.number = r->number;
    got->entry.time = (int64_t)r->number;
    got->entry.len = got->payload.len;
    if (tap_entry(r->tap, got, NULL) < 0)
        abort();
    got->lost = 0;
}

static void set_end(struct relay_end *end, uint8_t last, uint16_t port, bool v6)
{
    *end = (struct relay_end){ .port = port };
    memset(end->address + 10, v6 ? 0 : 0xff, 2);
    end->address[15] = last;
}

static void open_connection(struct run *r, const uint8_t *step, struct ring_got *got)
{
    struct relay_open open = { .to_server = r->next[step[1] & CONNECTION][0],
                               .to_client = r->next[step[1] & CONNECTION][1] };

    set_end(&open.client, 1, 700 + (step[1] & CONNECTION), step[1] & V6);
    set_end(&open.server, 2, 2049, false);
    if (!(step[1] & RAW))
        got->payload = (struct bytes){ (const uint8_t *)&open, sizeof(open) };
    give(r, got);
}

static void pass_bytes(struct run *r, const uint8_t *step, struct ring_got *got)
{
    uint64_t *next = &r->next[step[1] & CONNECTION]
                             [step[0] == RELAY_TO_CLIENT || step[0] == RELAY_END_TO_CLIENT];
    struct bytes all = got->payload;
    uint32_t at = 0;

    *next += load_le32(step + 4) * (step[1] & FAR ? UINT64_C(1) << 32 : 1);
    do {
        uint32_t len = all.len - at < r->most ? all.len - at : r->most;

        got->entry.offset = *next;
        got->payload = (struct bytes){ all.data + at, len };
        give(r, got);
        *next += len;
        at += len;
    } while (at < all.len);
}

static void run(struct run *r, const uint8_t *data, size_t size, uint32_t most)
{
    const struct tap_host host = { on_record, on_gap, NULL, r };

    *r = (struct run){ .most = most, .tap = tap_new(&host, NULL) };
    if (!r->tap)
        abort();
    while (size >= STEP) {
        uint32_t len = load_le32(data + 6) >> 16;
        struct ring_got got = {
            .entry = { .kind = data[0], .connection = data[1] & CONNECTION, .flags = data[2] },
            .lost = data[3]
        };

        len = len < size - STEP ? len : (uint32_t)(size - STEP);
        got.payload = (struct bytes){ data + STEP, len };
        if (data[0] == RELAY_OPEN)
            open_connection(r, data, &got);
        else
            pass_bytes(r, data, &got);
        if (data[0] == RELAY_CLOSED)
            memset(r->next[data[1] & CONNECTION], 0, sizeof(r->next[0]));
        data += STEP + len;
        size -= STEP + len;
    }
    if (tap_end(r->tap, NULL) < 0)
        abort();
}

/* Datagrams may not be cut. */
static bool has_datagrams(const uint8_t *data, size_t size)
{
    while (size >= STEP) {
        size_t len = STEP + (load_le32(data + 6) >> 16);

        if (data[0] == RELAY_OPEN && data[2] & RELAY_DATAGRAMS)
            return true;
        len = len < size ? len : size;
        data += len;
        size -= len;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run whole, pieces;
    const struct tap_counts *c;

    run(&whole, data, size, UINT32_MAX);
    c = tap_counts(whole.tap);
    if (!has_datagrams(data, size) && !whole.problems && !whole.gaps && !c->damaged &&
        !c->unknown && !c->missing_bytes) {
        run(&pieces, data, size, 3);
        if (pieces.operations != whole.operations || pieces.digest != whole.digest ||
            pieces.problems)
            abort();
        tap_free(pieces.tap);
    }
    tap_free(whole.tap);
    return 0;
}
