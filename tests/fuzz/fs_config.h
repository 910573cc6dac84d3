/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fs_config.h
 *
 * A file system's configuration out of a byte of the input: bit by bit, all that can be configured.
 */
#ifndef NFSDIGEST_TESTS_FS_CONFIG_H
#define NFSDIGEST_TESTS_FS_CONFIG_H

#include "fs/fs.h"

enum { FS_CONFIG_LITTLE = 32, FS_CONFIG_MEMORY = 600000 };

/* Without FS_CONFIG_LITTLE in |how|, no bound on memory. */
static inline struct fs_config fs_config_of(uint8_t how, struct nfstime3 (*now)(void *ctx))
{
    struct fs_config config = { .root_mode = how & 1 ? 01777 : 0777, .now = now, .changes = true };

    config.keep_unstable = how & 2;
    config.no_atime = how & 4;
    if (how & 8)
        config.capacity = 20 * FS_PAGE;
    if (how & 16)
        config.user_capacity = 8 * FS_PAGE, config.user_objects = 6;
    if (how & FS_CONFIG_LITTLE)
        config.memory = FS_CONFIG_MEMORY;
    if (how & 64)
        config.objects = 20;
    if (how & 128)
        config.first_generation = UINT32_MAX - 2;
    return config;
}

#endif
