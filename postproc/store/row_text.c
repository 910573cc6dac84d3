/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/row_text.h"

#include <stdio.h>

int row_path_text(const struct bytes *parent, uint32_t object, struct bytes name, struct buf *out)
{
    char start[32];
    int result = 0;

    out->len = 0;
    if (parent) {
        result = buf_append(out, parent->data, parent->len);
        if (result == 0 && (!parent->len || parent->data[parent->len - 1] != '/'))
            result = buf_append(out, "/", 1);
    } else if (object) {
        int len = snprintf(start, sizeof(start), "[#%u]", object);

        result = buf_append(out, start, (size_t)len);
        if (result == 0 && name.len)
            result = buf_append(out, "/", 1);
    }
    return result < 0 ? result : buf_append(out, name.data, name.len);
}

size_t row_gids_text(struct bytes gids, char text[ROW_GIDS_MAX])
{
    size_t len = 0;

    text[len++] = '[';
    for (uint32_t i = 0; i + 4 <= gids.len && len < ROW_GIDS_MAX - 13; i += 4)
        len += (size_t)snprintf(text + len, ROW_GIDS_MAX - len, "%s%u", i ? "," : "",
                                load_be32(gids.data + i));
    text[len++] = ']';
    return len;
}
