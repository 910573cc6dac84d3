/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pieces/part.h"
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
    if (!p->capture) {
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

/* Blocks that were in front of the part are not of it. */
static int next_block(struct part *p, struct frame *frame, struct err *err)
{
    struct pcapng_block block;
    int rc;

    while ((rc = capture_next_block(p->capture, &block, frame, err)) == 1) {
        uint64_t len = block.len + PCAPNG_BLOCK_LEAST;

        if (!p->whole && p->shape.head) { /* the beginning of the file comes first */
            p->shape.head -= p->shape.head > len ? (uint32_t)len : p->shape.head;
            continue;
        }
        p->next += len;
        if (!p->whole && (block.type == PCAPNG_SECTION || block.type == PCAPNG_INTERFACE))
            return err_set(err, ERR_USAGE,
                           "%s: an interface or section is described behind its first packet: "
                           "read it whole",
                           input_name(p->input));
        if (block.is_packet)
            break;
    }
    return rc;
}

int part_next(struct part *p, struct frame *frame, struct err *err)
{
    int rc;

    if (p->shape.pcapng)
        return next_block(p, frame, err);
    rc = capture_next(p->capture, frame, err);
    if (rc == 1)
        p->next += p->shape.record + frame->cap_len;
    return rc;
}
