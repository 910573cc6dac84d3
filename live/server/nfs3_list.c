/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3_list.c
 *
 * READDIR and READDIRPLUS, RFC 1813 s3.3.16 and s3.3.17.  |count| and |maxcount| bound the resok
 * structure with all its XDR; |dircount| bounds file ids, names and cookies alone.  Entries are
 * collected in the service's scratch memory, as structs, until the next one would not fit.
 */
#include "server/nfs3_parts.h"

#include <string.h>

enum {
    LAST_DOT = 2, /* cookies of "." and ".." are 1 and 2 */
    WORD = 4,     /* bytes: of a status, and before each entry */
    PROCEDURE_READDIR = 16,
};

struct listing {
    struct nfs3_op *op;
    const struct bound *entry, *plain; /* of its own entries, and of READDIR's */
    bool plus, spoilt;
    uint32_t left;        /* bytes of the result */
    uint32_t left_names;  /* bytes of dircount */
    uint32_t count, most; /* entries */
    union {
        struct entry3 *entries;
        struct entryplus3 *entries_plus;
        uint8_t *memory;
    };
    uint8_t (*handles)[HANDLE_LENGTH];
};

static void put_plus(struct listing *l, const struct fs_entry *entry)
{
    struct entryplus3 *to = &l->entries_plus[l->count];
    uint8_t *handle = l->handles[l->count];

    *to = (struct entryplus3){ .fileid = entry->fileid,
                               .name = entry->name,
                               .cookie = entry->cookie };
    nfs3_give_attributes(l->op, entry->object, &to->name_attributes);
    service_handle(l->op->service, l->op->export, entry->object, handle);
    handle[HANDLE_LENGTH - 1] ^= entry->cookie > LAST_DOT && nfs3_faulty(l->op, FAULT_HANDLE);
    to->name_handle_follows = !nfs3_faulty(l->op, FAULT_NO_HANDLE);
    to->name_handle = (struct bytes){ handle, HANDLE_LENGTH };
}

/* Sizes are what the tables make of an entry. */
static int put_once(struct listing *l, const struct fs_entry *from)
{
    struct entry3 plain = { from->fileid, from->name, from->cookie };
    size_t names = bind_size(l->plain, &plain), size = names;

    if (l->count == l->most)
        return 1;
    if (l->plus) {
        put_plus(l, from);
        size = bind_size(l->entry, &l->entries_plus[l->count]);
    } else {
        l->entries[l->count] = plain;
    }
    if (WORD + size > l->left || (l->plus && names > l->left_names))
        return 1;
    l->left -= (uint32_t)(WORD + size);
    l->left_names -= l->plus ? (uint32_t)names : 0;
    l->count++;
    return 0;
}

/* Faults concern the first entry that is a name. */
static int put_entry(void *ctx, const struct fs_entry *entry)
{
    struct listing *l = ctx;
    bool first = entry->cookie > LAST_DOT && !l->spoilt;

    if (first && nfs3_faulty(l->op, FAULT_SKIP_ENTRY)) {
        l->spoilt = true;
        return 0;
    }
    if (put_once(l, entry))
        return 1;
    if (first && nfs3_faulty(l->op, FAULT_TWICE_ENTRY) && put_once(l, entry) == 0)
        l->spoilt = true;
    return 0;
}

/* Lists from |cookie| on into what |empty|, a result without entries and with attributes, leaves of
 * the bytes.  NFS3ERR_TOOSMALL: not even one entry fits. */
static enum nfsstat3 list(struct listing *l, uint64_t cookie, const uint8_t *verifier,
                          const void *empty, bool *eof)
{
    struct nfs3_op *op = l->op;
    const struct nfs3_binding *binding = nfs3_binding(op->call->procedure);
    size_t listing = bind_size(binding->result, empty) - WORD; /* the status is not counted */
    uint32_t each = l->plus ? sizeof(struct entryplus3) + HANDLE_LENGTH : sizeof(struct entry3);
    enum nfsstat3 status;

    if (cookie && memcmp(verifier, op->service->cookie_verifier, NFS3_COOKIEVERFSIZE) != 0)
        return NFS3ERR_BAD_COOKIE;
    if (l->left < listing)
        return NFS3ERR_TOOSMALL;
    l->left -= (uint32_t)listing;
    l->entry = binding->entry;
    l->plain = nfs3_binding(PROCEDURE_READDIR)->entry;
    l->memory = op->service->scratch;
    l->most = TRANSFER_MAX / each;
    l->handles = (void *)(l->memory + l->most * sizeof(struct entryplus3));
    status = fs_list(op->fs, &op->caller.as, op->object, cookie, put_entry, l, eof);
    if (status == NFS3_OK && l->count == 0 && !*eof)
        return NFS3ERR_TOOSMALL;
    *eof ^= nfs3_faulty(op, FAULT_EOF);
    return status;
}

static void give_verifier(const struct nfs3_op *op, uint8_t to[NFS3_COOKIEVERFSIZE])
{
    memcpy(to, op->service->cookie_verifier, NFS3_COOKIEVERFSIZE);
    to[0] ^= nfs3_faulty(op, FAULT_COOKIE_VERIFIER);
}

static uint32_t at_most(uint32_t count, uint32_t bound)
{
    return count < bound ? count : bound;
}

enum nfsstat3 nfs3_readdir(struct nfs3_op *op, const void *args, void *res)
{
    const struct READDIR3args *a = args;
    struct READDIR3res *to = res;
    struct listing l = { .op = op, .left = at_most(a->count, op->transfer_max) };
    const struct READDIR3res empty = { .dir_attributes.attributes_follow = true };
    enum nfsstat3 status = list(&l, a->cookie, a->cookieverf, &empty, &to->eof);

    give_verifier(op, to->cookieverf);
    to->entries = (struct bind_list){ l.memory, l.count, l.count };
    return status;
}

/* dircount of 0 would let no entry through: clients that don't care send it, so it is no bound. */
enum nfsstat3 nfs3_readdirplus(struct nfs3_op *op, const void *args, void *res)
{
    const struct READDIRPLUS3args *a = args;
    struct READDIRPLUS3res *to = res;
    struct listing l = { .op = op,
                         .plus = true,
                         .left = at_most(a->maxcount, op->transfer_max),
                         .left_names = a->dircount ? a->dircount : UINT32_MAX };
    const struct READDIRPLUS3res empty = { .dir_attributes.attributes_follow = true };
    enum nfsstat3 status = list(&l, a->cookie, a->cookieverf, &empty, &to->eof);

    give_verifier(op, to->cookieverf);
    to->entries = (struct bind_list){ l.memory, l.count, l.count };
    return status;
}
