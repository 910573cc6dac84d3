/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bound_types.h"

#include "wire/bind_parts.h"
#include "wire/mount_structs.h"
#include "wire/nfsacl_structs.h"
#include "wire/portmap_structs.h"

#include <stdlib.h>

enum { TYPES_MAX = 200 };

static struct bound_type types[TYPES_MAX];
static uint32_t count;

static void add(const struct type *type, const struct bound *bound, size_t size)
{
    if (!bound)
        return;
    if (count == TYPES_MAX || bound->struct_size != size)
        abort();
    types[count++] = (struct bound_type){ type, bound, size };
}

static void add_all(uint32_t program, uint32_t version,
                    const struct wire_binding *(*find)(uint32_t procedure))
{
    for (uint32_t i = 0; find(i); i++) {
        const struct procedure *p = procedure_find(program, version, i);
        const struct wire_binding *b = find(i);

        add(p->arguments, b->arguments, b->arguments_size);
        add(p->result, b->result, b->result_size);
    }
}

static void add_nfs3(void)
{
    for (uint32_t i = 0; nfs3_binding(i); i++) {
        const struct nfs3_binding *b = nfs3_binding(i);
        const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, i);

        add(p->arguments, b->arguments, b->arguments_size);
        add(p->result, b->result, b->result_size);
    }
}

int bound_types_init(struct err *err)
{
    int result = nfs3_structs_init(err);

    if (result == 0)
        result = mount_structs_init(err);
    if (result == 0)
        result = nfsacl_structs_init(err);
    if (result == 0)
        result = portmap_structs_init(err);
    if (result < 0 || count)
        return result;
    add_nfs3();
    add_all(MOUNT_PROGRAM, 1, mount1_binding);
    add_all(MOUNT_PROGRAM, 3, mount3_binding);
    add_all(NFSACL_PROGRAM, 3, nfsacl3_binding);
    add_all(PORTMAP_PROGRAM, 2, portmap2_binding);
    add_all(PORTMAP_PROGRAM, 3, rpcbind3_binding);
    add_all(PORTMAP_PROGRAM, 4, rpcbind4_binding);
    return 0;
}

void bound_types_free(void)
{
    nfs3_structs_free();
    mount_structs_free();
    nfsacl_structs_free();
    portmap_structs_free();
    count = 0;
}

bool bound_types(uint32_t index, struct bound_type *to)
{
    if (index < count)
        *to = types[index];
    return index < count;
}

static void *take(struct bound_room *room, size_t size)
{
    void *at = room->memory + room->used;

    room->used += (size + 15) & ~(size_t)15;
    if (room->used > sizeof(room->memory))
        abort();
    return at;
}

static void give_lists(const struct bound *b, struct bound_room *room, uint8_t *at, uint32_t most)
{
    for (const struct bind_op *op = b->ops; op->code != BIND_DONE; op++) {
        const struct bound *element;
        struct bind_list list = { .most = most, .count = UINT32_MAX };

        if (op->code != BIND_ELEMENTS && op->code != BIND_ARRAY)
            continue;
        element = b->elements[op->next];
        list.elements = take(room, most * (size_t)element->struct_size);
        memset(list.elements, 0x5a, most * (size_t)element->struct_size);
        memcpy(at + op->offset, &list, sizeof(list));
        for (uint32_t i = 0; i < most; i++)
            give_lists(element, room, (uint8_t *)list.elements + (size_t)i * element->struct_size,
                       most);
    }
}

void bound_room(const struct bound_type *t, struct bound_room *room, uint32_t most)
{
    room->used = 0;
    room->at = take(room, t->size);
    memset(room->at, 0x5a, t->size);
    give_lists(t->bound, room, room->at, most);
}
