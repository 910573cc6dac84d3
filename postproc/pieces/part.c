/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pieces/part.h"
#include "capture/pcapng.h"
#include "link/pcapng_numbers.h"

/* Of a file that is read whole: only where its packets begin is needed. */
static void shape_of_head(struct part *p)
{
    const uint8_t *head;
    size_t len = input_head(p->input, &head);

    p->shape.pcapng = pcapng_is(head, len);
    p->shape.record = capture_record_head(head, len);
    p->next = p->shape.pcapng ? 0 : FIND_PCAP_HEAD;
}

int part_open(struct part *p, const char *path, const struct capture_shape *shape, uint64_t from,
              struct err *err)
{
    *p = (struct part){ .whole = !shape };
    p->input = shape ? input_open_part(path, shape->head, from, err) : input_open(path, false, err);
    if (!p->input)
        return -err->code;
    if (shape) {
        p->shape = *shape;
        p->next = from;
    } else {
        shape_of_head(p);
    }
    p->capture = capture_open(p->input, err);
    p->jumped = shape && shape->pcapng && from > shape->head;
    if (!p->capture || (shape && capture_head(p->capture, shape->head, from, err) < 0)) {
        part_close(p);
        return -err->code;
    }
    return 0;
}

void part_close(struct part *p)
{
    capture_close(p->capture);
    input_close(p->input);
    p->capture = NULL;
    p->input = NULL;
}

static int next_block(struct part *p, uint64_t to, struct frame *frame, struct err *err)
{
    struct pcapng_block block;
    int rc = 0;

    while (p->next < to && (rc = capture_next_block(p->capture, &block, frame, err)) == 1) {
        if (block.type == PCAPNG_SECTION && p->begun && !p->section)
            p->section = p->next;
        p->next += block.len + PCAPNG_BLOCK_LEAST;
        if (block.is_packet)
            break;
        rc = 0;
    }
    p->begun |= rc == 1;
    return rc;
}

int part_next(struct part *p, uint64_t to, struct frame *frame, struct err *err)
{
    int rc;

    if (p->shape.pcapng)
        return next_block(p, to, frame, err);
    if (p->next >= to)
        return 0;
    rc = capture_next(p->capture, frame, err);
    if (rc == 1)
        p->next += p->shape.record + frame->cap_len;
    return rc;
}

int part_carry(struct part *p, const struct faces *faces, bool sure, struct err *err)
{
    return p->jumped ? pcapng_jump_with(capture_pcapng(p->capture), faces, sure, err) : 0;
}

void part_border(struct part *p)
{
    if (p->shape.pcapng)
        pcapng_border(capture_pcapng(p->capture));
}

int part_span(const struct part *p, struct faces_span *span, struct err *err)
{
    return p->shape.pcapng ? pcapng_span(capture_pcapng(p->capture), span, err) : 0;
}
