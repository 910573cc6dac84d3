/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/mounts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void free_mount(struct mount *m)
{
    free(m->host);
    free(m->path);
}

static bool is(const struct mount *m, const char *host, struct bytes path)
{
    return strcmp(m->host, host) == 0 &&
           (!path.data ||
            (strlen(m->path) == path.len && memcmp(m->path, path.data, path.len) == 0));
}

void mounts_add(struct mounts *mounts, const char *host, struct bytes path)
{
    struct mount m = { strdup(host), strndup((const char *)path.data, path.len) };

    for (uint32_t i = 0; i < mounts->count; i++)
        if (is(&mounts->list[i], host, path)) {
            free_mount(&m);
            return;
        }
    if (mounts->count < MOUNTS_MAX && m.host && m.path)
        mounts->list[mounts->count++] = m;
    else
        free_mount(&m);
}

void mounts_remove(struct mounts *mounts, const char *host, struct bytes path)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < mounts->count; i++) {
        if (is(&mounts->list[i], host, path))
            free_mount(&mounts->list[i]);
        else
            mounts->list[kept++] = mounts->list[i];
    }
    mounts->count = kept;
}

void mounts_free(struct mounts *mounts)
{
    for (uint32_t i = 0; i < mounts->count; i++)
        free_mount(&mounts->list[i]);
    mounts->count = 0;
}
