/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/blocks.h"

#include "base/digest.h"

int blocks_digest(uint64_t offset, struct bytes contents, struct buf *out)
{
    while (contents.len) {
        uint32_t len = block_piece(offset, contents.len);
        uint8_t digest[BLOCK_DIGEST_LEN];
        int rc;

        store_le64(digest, XXH3_64bits(contents.data, len));
        rc = buf_append(out, digest, sizeof(digest));
        if (rc < 0)
            return rc;
        offset += len;
        contents.data += len;
        contents.len -= len;
    }
    return 0;
}
