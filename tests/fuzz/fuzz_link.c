/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_link.c
 *
 * Frames through engine/link.  Input: 2 bytes of link type, then frames of: 2 bytes captured
 * length, 1 byte by which the length on the wire is more, 1 byte of time steps of a quarter second,
 * the bytes (big-endian; the last frame ends with the input).  An odd time step first sends the
 * second of two links through link_save and link_restore: both must deliver the same.
 */
#include "link/link.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t prime = 0x100000001b3u;

struct side {
    struct link *link;
    uint64_t digest; /* of all deliveries */
};

static void require(bool truth)
{
    if (!truth)
        abort();
}

static int deliver(void *ctx, const struct frame *frame, const struct ip_payload *p,
                   struct err *err)
{
    struct side *side = ctx;
    char text[ADDRESS_TEXT_MAX];

    (void)err;
    require(p->protocol == 6 || p->protocol == 17);
    require(p->wire_len > 0 && p->cap_len <= p->wire_len);
    require(p->source.version == p->destination.version);
    require(p->source.version == 4 || p->source.version == 6);
    require(p->reassembled || p->wire_len <= frame->wire_len);
    require(strlen(address_text(&p->source, text)) < ADDRESS_TEXT_MAX);
    side->digest = (side->digest ^ frame->number) * prime;
    for (uint32_t i = 0; i < p->cap_len; i++) /* every byte may be read */
        side->digest = (side->digest ^ p->data[i]) * prime;
    return 0;
}

static int show(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)ctx;
    (void)err;
    require(name[0] && value);
    return 0;
}

static void save_and_restore(struct side *side)
{
    struct buf saved = { 0 }, again = { 0 };

    require(link_save(side->link, &saved) == 0);
    link_free(side->link);
    side->link = link_new(deliver, side);
    require(side->link && link_restore(side->link, saved.data, saved.len, NULL) == 0);
    require(link_save(side->link, &again) == 0);
    require(saved.len == again.len && memcmp(saved.data, again.data, saved.len) == 0);
    buf_free(&saved);
    buf_free(&again);
}

static void feed(struct side *side, const struct frame *frame)
{
    /* of just its size, so that the sanitizer sees what is read behind it */
    uint8_t *exact = malloc(frame->cap_len ? frame->cap_len : 1);
    struct frame copy = *frame;

    require(exact != NULL);
    memcpy(exact, frame->data, frame->cap_len);
    copy.data = exact;
    require(link_frame(side->link, &copy, NULL) == 0);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct side plain = { 0 }, restored = { 0 };
    struct frame frame = { 0 };

    if (size < 2)
        return 0;
    plain.link = link_new(deliver, &plain);
    restored.link = link_new(deliver, &restored);
    require(plain.link && restored.link);
    frame.link_type = load_be16(data);
    data += 2;
    size -= 2;
    while (size >= 4) {
        uint32_t len = load_be16(data);

        frame.number++;
        frame.cap_len = len < size - 4 ? len : (uint32_t)size - 4;
        frame.wire_len = frame.cap_len + data[2];
        frame.time += data[3] * INT64_C(250000000);
        if (data[3] & 1)
            save_and_restore(&restored);
        frame.data = data + 4;
        feed(&plain, &frame);
        feed(&restored, &frame);
        require(plain.digest == restored.digest);
        data += 4 + frame.cap_len;
        size -= 4 + frame.cap_len;
    }
    require(link_counters(plain.link, show, NULL, NULL) == 0);

    link_free(plain.link);
    link_free(restored.link);
    return 0;
}
