/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rdump/rdump_place.h"
#include "wire/nfs3_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rdump_root_name(uint32_t number, char name[RDUMP_NAME_ROOM])
{
    snprintf(name, RDUMP_NAME_ROOM, "root-%" PRIu32, number);
}

void rdump_link_name(uint32_t number, uint32_t link, char name[RDUMP_NAME_ROOM])
{
    snprintf(name, RDUMP_NAME_ROOM, "link-%" PRIu32 "-%" PRIu32, number, link);
}

uint32_t rdump_further_links(const struct rdump_object *object, uint32_t entries)
{
    uint32_t names = entries ? entries : 1;

    return object->type != NF3DIR && object->nlink > names ? object->nlink - names : 0;
}

struct bytes rdump_link_text(const struct rdump_object *object)
{
    static uint8_t letters[RDUMP_TEXT_MOST];
    uint64_t size = object->size ? object->size : 1;

    if (object->link.len)
        return object->link;
    memset(letters, 'x', sizeof(letters));
    return (struct bytes){ letters, size < sizeof(letters) ? (uint32_t)size : sizeof(letters) };
}
