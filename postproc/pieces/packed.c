/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pieces/packed.h"
#include "base/digest.h"
#include "base/output.h"
#include "base/pack.h"

#include <errno.h>
#include <stdio.h>

int packed_write(const char *path, uint64_t version, const struct buf *values, struct err *err)
{
    struct output *output = output_open(path, err);
    XXH3_state_t *state = XXH3_createState();
    uint64_t digest;
    int rc = output ? 0 : -err->code;

    if (rc == 0 && !state)
        rc = err_memory(err, "a digest");
    if (rc == 0) {
        XXH3_64bits_reset(state);
        XXH3_64bits_update(state, &version, sizeof(version));
        XXH3_64bits_update(state, values->data, values->len);
        digest = XXH3_64bits_digest(state);
        rc = output_write(output, &version, sizeof(version), err);
    }
    if (rc == 0 && values->len)
        rc = output_write(output, values->data, values->len, err);
    if (rc == 0)
        rc = output_write(output, &digest, sizeof(digest), err);
    if (rc == 0)
        rc = output_commit(output, err);
    XXH3_freeState(state);
    output_close(output);
    return rc;
}

static int read_file(const char *path, const struct packed_kind *kind, struct buf *out,
                     struct err *err)
{
    FILE *file = fopen(path, "re");
    uint8_t part[65536];
    size_t n;
    int rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    while (rc == 0 && (n = fread(part, 1, sizeof(part), file)) > 0)
        if (out->len > kind->most)
            rc = err_set(err, ERR_INPUT, "%s: too long for %s", path, kind->what);
        else if (buf_append(out, part, n) < 0)
            rc = err_memory(err, kind->what);
    if (rc == 0 && ferror(file))
        rc = err_set(err, ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return rc;
}

int packed_read(const char *path, const struct packed_kind *kind, struct buf *file,
                struct unpack *values, struct err *err)
{
    int rc = read_file(path, kind, file, err);
    uint64_t number, digest;

    *values = (struct unpack){ file->data, file->len, false };
    if (rc < 0)
        return rc;
    unpack_value(values, number);
    if (values->failed || number != kind->version)
        return err_set(err, ERR_INPUT, "%s: not %s of this build of nfsdigest: %s", path,
                       kind->what, kind->advice);
    if (file->len >= 2 * sizeof(digest))
        memcpy(&digest, file->data + file->len - sizeof(digest), sizeof(digest));
    if (file->len < 2 * sizeof(digest) ||
        digest != XXH3_64bits(file->data, file->len - sizeof(digest)))
        return err_set(err, ERR_INPUT, "%s: damaged: %s", path, kind->advice);
    values->left -= sizeof(digest);
    return 0;
}
