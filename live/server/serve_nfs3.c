/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/serve_nfs3.c
 *
 * NFSv3's calls on their way to nfs3.c, and the paths that fault rules ask for.
 */
#include "server/nfs3.h"
#include "server/serve_parts.h"

#include <string.h>

enum rpc_status serve_nfs3(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    const struct rpc_call *call = q->call;
    struct nfs3_call answered = {
        .procedure = call->header.procedure,
        .credential = &call->header.credential,
        .arguments = call->body,
        .transfer_max = call->transport == RPC_UDP ? TRANSFER_MAX_UDP : TRANSFER_MAX,
        .effects = q->effects.set ? &q->effects : NULL,
    };

    return nfs3_answer(&q->server->service, &answered, to, outcome);
}

/* --- paths */

/* The first handle of the arguments, and the name behind it if the procedure is about a name. */
struct about {
    struct bytes handle, name;
};

static int note(void *ctx, const struct visit *visit)
{
    struct about *about = ctx;

    if (!about->handle.data && visit->field->cls == CLASS_HANDLE)
        about->handle = (struct bytes){ visit->data, visit->len };
    else if (!about->name.data && visit->field->role & ROLE_NAME)
        about->name = (struct bytes){ visit->data, visit->len };
    return 0;
}

int serve_path(const struct request *q, struct buf *path, struct bytes *handle)
{
    const struct rpc_header *h = &q->call->header;
    const struct procedure *procedure = procedure_find(h->program, h->version, h->procedure);
    struct bytes body = q->call->body;
    struct about about = { { NULL, 0 }, { NULL, 0 } };
    struct visitor visitor = { note, &about, ROLE_OBJECT | ROLE_PARENT | ROLE_NAME };
    const struct export *export;
    struct walk state;
    uint32_t object;

    if (!procedure || walk(&state, procedure->arguments, body.data, body.len, body.len, false,
                           &visitor) != WALK_OK)
        return -1;
    *handle = about.handle;
    if (!about.handle.data ||
        service_find(&q->server->service, about.handle, &export, &object) != NFS3_OK ||
        buf_append(path, export->name, strlen(export->name)) < 0 ||
        (object != fs_root(export->fs) && fs_path(export->fs, object, path) < 0))
        return -1;
    if (!about.name.data)
        return 0;
    return buf_append(path, "/", 1) < 0 ? -1 : buf_append(path, about.name.data, about.name.len);
}
