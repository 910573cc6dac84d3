/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/script.c
 *
 * Reads what stands before the operations of a dump, for the player and for what makes its tree.
 * The dump is a stranger's: each record goes through the checker (rdump_check.h) before it is kept,
 * so numbers have no gaps, and the tree is one.
 */
#include "player/script.h"
#include "base/arena.h"
#include "base/digest.h"
#include "base/grow.h"
#include "rdump/rdump_check.h"
#include "rdump/rdump_format.h"
#include "wire/rpc_put.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t zeros[16];
static const struct bytes auth_none = { zeros, sizeof(zeros) }; /* flavor and length, twice */

/* What is only needed while the dump is opened. */
struct opening {
    struct script *script;
    struct rdump_checker *checker;
    struct rdump_summary summary;
    XXH3_state_t *identity;
    struct layout_bases bases;
    struct buf record, auth; /* one record, encoded again; one AUTH_SYS credential */
    uint32_t host_cap, credential_cap, object_cap;
    uint64_t entry_cap;
};

/* A pipe may have nothing for a long time, while somebody wants to end. */
static int wait_for_more(const struct script *s, struct err *err)
{
    struct pollfd fds[] = { { .fd = s->fd, .events = POLLIN },
                            { .fd = s->stop, .events = POLLIN } };

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return err_set(err, ERR_SYSTEM, "%s: cannot wait for more of it: %s", s->path,
                           strerror(errno));
    return fds[1].revents ? err_set(err, ERR_SYSTEM, "%s: not read to its end", s->path) : 0;
}

static ssize_t read_script(void *ctx, void *data, size_t len, struct err *err)
{
    struct script *s = ctx;
    ssize_t n;

    if (s->before_read)
        s->before_read(s->before_read_ctx);
    if (s->is_pipe && wait_for_more(s, err) < 0)
        return -err->code;
    do
        n = read(s->fd, data, len);
    while (n < 0 && errno == EINTR);
    return n < 0 ? err_set(err, ERR_INPUT, "%s: cannot be read: %s", s->path, strerror(errno)) : n;
}

static int copy_text(struct arena *texts, struct bytes *text, struct err *err)
{
    if (text->len)
        text->data = arena_copy(texts, text->data, text->len);
    else
        text->data = NULL;
    return text->len && !text->data ? err_memory(err, "texts of a dump") : 0;
}

static int take_trace(struct opening *o, const struct rdump_trace *trace, struct err *err)
{
    struct script *s = o->script;

    s->trace = *trace;
    if (copy_text(s->texts, &s->trace.tool, err) < 0)
        return -err->code;
    return copy_text(s->texts, &s->trace.selection, err);
}

static int take_host(struct opening *o, const struct rdump_host *host, struct err *err)
{
    struct script *s = o->script;

    if (GROW_ZERO(s->hosts, (uint64_t)host->number + 1, o->host_cap) < 0)
        return err_memory(err, "hosts of a dump");
    s->host_count = host->number;
    s->hosts[host->number].address = host->address;
    return copy_text(s->texts, &s->hosts[host->number].address, err);
}

/* AUTH_SYS, written once: sending it is then a copy. */
static int encode(struct opening *o, const struct rdump_credential *from, struct bytes *encoded,
                  struct err *err)
{
    struct rpc_auth auth = { .flavor = RPC_AUTH_SYS,
                             .valid = true,
                             .machine = from->machine,
                             .uid = from->uid,
                             .gid = from->gid,
                             .gid_count = from->gids.len / 4 };
    struct xdr_put put = xdr_put_to(&o->auth, XDR_PUT_ANY_LENGTH);

    if (auth.gid_count > RPC_GIDS_MAX)
        return err_set(err, ERR_INPUT, "%s: credential %u: %u groups, AUTH_SYS has at most %d",
                       o->script->path, from->number, auth.gid_count, RPC_GIDS_MAX);
    for (uint32_t i = 0; i < auth.gid_count; i++)
        auth.gids[i] = load_be32(from->gids.data + (size_t)4 * i);
    o->auth.len = 0;
    rpc_put_auth(&put, &auth);
    xdr_put_zeros(&put, 8); /* the verifier */
    if (put.problem == XDR_PUT_NO_MEMORY)
        return err_memory(err, "credentials of a dump");
    if (put.problem)
        return err_set(err, ERR_INPUT, "%s: credential %u: its machine's name has %u bytes",
                       o->script->path, from->number, from->machine.len);
    *encoded = (struct bytes){ o->auth.data, (uint32_t)o->auth.len };
    return copy_text(o->script->texts, encoded, err);
}

static int take_credential(struct opening *o, const struct rdump_credential *from, struct err *err)
{
    struct script *s = o->script;
    struct script_credential *to;

    if (GROW_ZERO(s->credentials, (uint64_t)s->credential_count + 2, o->credential_cap) < 0)
        return err_memory(err, "credentials of a dump");
    to = &s->credentials[++s->credential_count];
    to->number = from->number;
    to->flavor = from->flavor;
    to->uid = from->uid;
    to->gid = from->gid;
    to->encoded = auth_none;
    return from->flavor == RPC_AUTH_SYS ? encode(o, from, &to->encoded, err) : 0;
}

static int take_object(struct opening *o, const struct rdump_object *object, struct err *err)
{
    struct script *s = o->script;
    struct rdump_object *to;

    if (GROW(s->objects, s->object_count, o->object_cap) < 0)
        return err_memory(err, "the tree of a dump");
    to = &s->objects[s->object_count++];
    *to = *object;
    s->hosts[object->server].is_server = true;
    if (copy_text(s->tree_texts, &to->link, err) < 0)
        return -err->code;
    return copy_text(s->tree_texts, &to->root, err);
}

static int take_entry(struct opening *o, const struct rdump_entry *entry, struct err *err)
{
    struct script *s = o->script;

    if (GROW(s->entries, s->entry_count, o->entry_cap) < 0)
        return err_memory(err, "the tree of a dump");
    s->entries[s->entry_count] = *entry;
    return copy_text(s->tree_texts, &s->entries[s->entry_count++].name, err);
}

static int take(struct opening *o, enum rdump_kind kind, const void *record, struct err *err)
{
    switch (kind) {
    case RDUMP_TRACE:
        return take_trace(o, record, err);
    case RDUMP_HOST:
        return take_host(o, record, err);
    case RDUMP_CREDENTIAL:
        return take_credential(o, record, err);
    case RDUMP_OBJECT:
        return take_object(o, record, err);
    case RDUMP_ENTRY:
        return take_entry(o, record, err);
    default:
        return 0;
    }
}

/* The bytes of the dump would do as well, but its blocks end anywhere. */
static int identify(struct opening *o, enum rdump_kind kind, const void *record, struct err *err)
{
    if (kind == RDUMP_CREDENTIAL)
        return 0;
    o->record.len = 0;
    if (layout_encode(&rdump_format, kind, record, &o->bases, &o->record, err) < 0)
        return -err->code;
    XXH3_64bits_update(o->identity, o->record.data, o->record.len);
    return 0;
}

/* What the checker has found is an error here. */
static int judge(const struct opening *o, struct err *err)
{
    const struct buf *text = &o->summary.text;
    const char *end;

    if (!o->summary.findings)
        return 0;
    end = memchr(text->data, '\n', text->len);
    return err_set(err, ERR_INPUT, "%s: %.*s; \"nfsdigest rdump --check\" shows all errors",
                   o->script->path, (int)(end ? end - (const char *)text->data : (int)text->len),
                   (const char *)text->data);
}

static int read_tree(struct opening *o, struct err *err)
{
    struct script *s = o->script;
    enum rdump_kind kind;
    const void *record;
    int result;

    for (;;) {
        result = rdump_next(s->reader, &kind, &record, err);
        if (result < 0)
            return result;
        if (kind >= RDUMP_OPERATION)
            break;
        if (rdump_checker_put(o->checker, kind, record, err) < 0 || judge(o, err) < 0 ||
            identify(o, kind, record, err) < 0 || take(o, kind, record, err) < 0)
            return -err->code;
    }
    s->first_kind = kind;
    s->first = record;
    if (!o->summary.records[RDUMP_TRACE])
        return err_set(err, ERR_INPUT, "%s: its first record is not the trace", s->path);
    if (rdump_checker_tree(o->checker, err) < 0)
        return -err->code;
    s->identity = XXH3_64bits_digest(o->identity);
    return judge(o, err);
}

static int open_file(struct script *s, struct err *err)
{
    struct stat status;

    s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &status) < 0)
        return err_set(err, ERR_INPUT, "%s: cannot be read: %s", s->path, strerror(errno));
    s->is_pipe = !S_ISREG(status.st_mode);
    posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only a hint */
    s->stop = eventfd(0, EFD_CLOEXEC);
    if (s->stop < 0)
        return err_set(err, ERR_SYSTEM, "%s: cannot make an eventfd: %s", s->path, strerror(errno));
    s->texts = calloc(1, sizeof(*s->texts));
    s->tree_texts = calloc(1, sizeof(*s->tree_texts));
    s->hosts = calloc(1, sizeof(*s->hosts));
    s->credentials = calloc(1, sizeof(*s->credentials));
    if (!s->texts || !s->tree_texts || !s->hosts || !s->credentials)
        return err_memory(err, "a dump");
    s->credentials[0].encoded = auth_none;
    s->reader = rdump_reader_from(read_script, s, s->path, err);
    return s->reader ? 0 : -err->code;
}

int script_open(struct script *script, const char *path, struct err *err)
{
    struct opening o = { .script = script, .host_cap = 1, .credential_cap = 1 };
    struct err unseen;
    int result;

    if (!err)
        err = &unseen;
    *script = (struct script){ .path = path, .fd = -1, .stop = -1 };
    o.identity = XXH3_createState();
    o.checker = rdump_checker_new(&o.summary, err);
    if (!o.identity || XXH3_64bits_reset(o.identity) != XXH_OK)
        result = err_memory(err, "a dump");
    else if (!o.checker)
        result = -err->code;
    else
        result = open_file(script, err);
    if (result == 0)
        result = read_tree(&o, err);
    if (result < 0)
        script_close(script);
    rdump_checker_free(o.checker);
    rdump_summary_free(&o.summary);
    XXH3_freeState(o.identity);
    buf_free(&o.record);
    buf_free(&o.auth);
    return result;
}

static void free_texts(struct arena **texts)
{
    if (*texts)
        arena_free(*texts);
    free(*texts);
    *texts = NULL;
}

void script_drop_tree(struct script *s)
{
    free(s->objects);
    free(s->entries);
    s->objects = NULL;
    s->entries = NULL;
    s->object_count = 0;
    s->entry_count = 0;
    free_texts(&s->tree_texts);
}

void script_close(struct script *s)
{
    if (!s->path) /* all zeros */
        return;
    script_drop_tree(s);
    rdump_reader_free(s->reader);
    free(s->hosts);
    free(s->credentials);
    free_texts(&s->texts);
    if (s->fd >= 0)
        close(s->fd);
    if (s->stop >= 0)
        close(s->stop);
    *s = (struct script){ 0 };
}
