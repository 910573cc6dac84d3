/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/contents.h"
#include "fill/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int contents_parse(const char *text, struct contents *to, struct err *err)
{
    static const char *const names[] = { [CONTENTS_FILL] = "fill",
                                         [CONTENTS_SPARSE] = "sparse",
                                         [CONTENTS_ZERO] = "zero",
                                         [CONTENTS_RANDOM] = "random" };
    static const char compressible[] = "compressible=";
    double ratio;
    char *end;

    *to = (struct contents){ 0 };
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0) {
            to->kind = (enum contents_kind)i;
            snprintf(to->text, sizeof(to->text), "%s", names[i]);
            return 0;
        }
    if (strncmp(text, compressible, sizeof(compressible) - 1) == 0 &&
        strlen(text) < sizeof(to->text)) {
        ratio = strtod(text + sizeof(compressible) - 1, &end);
        if (!*end && end > text + sizeof(compressible) - 1 && ratio >= 1 && ratio <= 1000) {
            to->kind = CONTENTS_COMPRESSIBLE;
            to->random = (uint32_t)(CONTENTS_BLOCK / ratio);
            snprintf(to->text, sizeof(to->text), "%s", text);
            return 0;
        }
    }
    return err_set(
        err, ERR_USAGE,
        "\"%s\" is not fill, sparse, zero, random or compressible=R with R from 1 to 1000", text);
}

/* One number of splitmix64 (docs/contents.md). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The 8 bytes at 8 * |place|. */
static uint64_t word_at(uint64_t key, uint64_t place, uint32_t random)
{
    uint64_t first = place * 8 % CONTENTS_BLOCK;
    uint64_t word = mix(key + place * UINT64_C(0x9e3779b97f4a7c15));

    if (first + 8 <= random)
        return word;
    return first >= random ? 0 : word & ((UINT64_C(1) << (random - first) * 8) - 1);
}

const uint8_t *contents_at(const struct contents *c, uint64_t object, uint64_t offset, uint32_t len,
                           uint8_t *room)
{
    uint32_t random = c->kind == CONTENTS_RANDOM ? CONTENTS_BLOCK : c->random;
    uint64_t key = mix(object + 1), word;

    if (c->kind == CONTENTS_FILL)
        return fill_at(object, offset);
    if (c->kind == CONTENTS_ZERO) {
        memset(room, 0, len);
        return room;
    }
    for (uint32_t done = 0, part; done < len; done += part) {
        uint32_t skip = (uint32_t)((offset + done) % 8);

        word = word_at(key, (offset + done) / 8, random);
        part = 8 - skip < len - done ? 8 - skip : len - done;
        memcpy(room + done, (uint8_t *)&word + skip, part);
    }
    return room;
}
