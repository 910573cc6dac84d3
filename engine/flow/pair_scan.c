/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/pair_parts.h"

#include "base/blocks.h"
#include "base/digest.h"

/* Of contents that were captured whole, in a range that is known. */
static int digest_blocks(struct pair *p, const struct pair_body *body, const struct scan *scan,
                         struct record_operation *op, struct err *err)
{
    bool sent = scan->roles & ROLE_RANGE_START, known = sent || op->call.flags & SIGHTING_OFFSET;
    struct bytes contents = { body->m->data + body->h->body + scan->data_at, scan->data_len };

    if (!known || scan->data_len != scan->data_full ||
        body->sighting->flags & (SIGHTING_PARTIAL | SIGHTING_MALFORMED))
        return 0;
    p->blocks.len = 0;
    if (blocks_digest(sent ? scan->offset : op->offset, contents, &p->blocks) < 0)
        return err_memory(err, "digests of blocks");
    op->block_digests = (struct bytes){ p->blocks.data, (uint32_t)p->blocks.len };
    return 0;
}

int pair_scan(struct pair *p, const struct pair_body *body, struct scan *scan,
              struct record_operation *op, struct err *err)
{
    const struct message *m = body->m;
    struct captured captured = rpc_body(m->data, m->cap_len, body->h);
    char problem[SCAN_PROBLEM_MAX];
    XXH128_canonical_t digest;
    int rc;

    rc = scan_body(scan, body->type, &captured, problem, err);
    if (rc < 0)
        return rc;
    if (scan->result == WALK_MALFORMED) {
        body->sighting->flags |= SIGHTING_MALFORMED;
        if (p && (rc = pair_malformed(p, m, body->h->body, problem, err)) < 0)
            return rc;
    }
    if (scan->has_data) {
        body->sighting->flags |= SIGHTING_DATA;
        op->data_length = scan->data_full;
        XXH128_canonicalFromHash(&digest,
                                 XXH3_128bits(captured.data + scan->data_at, scan->data_len));
        memcpy(op->data_digest, digest.digest, sizeof(op->data_digest));
        if (p && p->block_digests)
            return digest_blocks(p, body, scan, op, err);
    }
    return 0;
}
