/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan.c
 *
 * Both passes.  The first reads the database into the tree and spools the operations.  The second
 * rehearses them and queues each, with what it uses, to a thread that finds its dependencies and
 * calls the host.  For the subcommands deps and tree, dumps (rdump_make.c) and simulations
 * (concurrency_report.c).  The contract is in plan.h, what the parts share in plan_parts.h.
 */
#include "plan/callers_read.h"
#include "base/grow.h"
#include "plan/plan_parts.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>

static int no_memory(struct err *err)
{
    return err_memory(err, "the plan");
}

/* Pass 1 */

static int take_address(void *ctx, uint32_t number, const char *text, struct err *err)
{
    struct plan *p = ctx;

    if (GROW_TO(p->hosts, number, p->host_cap) < 0)
        return no_memory(err);
    p->hosts[number - 1] = strdup(text);
    if (!p->hosts[number - 1])
        return no_memory(err);
    p->host_count = number;
    return 0;
}

struct behind {
    struct plan *p;
    const char *server;
    uint32_t count;
    struct err *err;
};

static int take_entry(void *ctx, const struct effect_entry *entry)
{
    struct behind *b = ctx;
    struct plan *p = b->p;
    uint32_t object = 0;

    if (GROW(p->entries, b->count, p->entry_cap) < 0)
        return no_memory(b->err);
    if (entry->handle.data && tree_find(&p->tree, b->server, entry->handle, &object, b->err) < 0)
        return -b->err->code;
    p->entries[b->count++] = object;
    return 0;
}

static bool is_planned(const struct effect *e)
{
    return e->procedure ? (e->program == 100003 || e->program == 100227) && e->version == 3
                        : e->pairing == CALL_LOST;
}

static int mark_credential(struct plan *p, uint32_t credential, struct err *err)
{
    if (GROW_ZERO(p->credentials, (uint64_t)credential + 1, p->credential_cap) < 0)
        return no_memory(err);
    p->credentials[credential] = true;
    return 0;
}

static int take_called(void *ctx, struct effect *e, struct err *err)
{
    struct plan *p = ctx;
    struct behind b = { .p = p, .server = e->server, .err = err };

    if (e->call_time < p->options->from)
        return 0;
    if (!is_planned(e)) {
        p->counts->others++;
        return 0;
    }
    if (p->counts->operations++ == 0 || e->call_time < p->first_time)
        p->first_time = e->call_time;
    p->refuses |= e->name.data && (e->status == NFS3ERR_ACCES || e->status == NFS3ERR_PERM);
    if (mark_credential(p, e->credential, err) < 0)
        return -err->code;
    if (e->asked.cookie && e->succeeded && e->procedure->result->roles & ROLE_ENTRY &&
        cookies_ask(&p->rehearsal.cookies, e->object, e->client_number, e->asked.cookie) < 0)
        return no_memory(err);
    if (e->procedure && e->procedure->result->roles & ROLE_ENTRY_OBJECT &&
        effect_entries(e, take_entry, &b) < 0)
        return -err->code;
    /* what handles stand for, the rehearsal knows better */
    return spool_put(p->spool, e, p->entries, b.count, (uint8_t)unplayable_of(e), err);
}

static int take_named(void *ctx, int64_t from, int64_t to, struct err *err)
{
    struct plan *p = ctx;
    const struct hierarchy_host *host = &p->host->hierarchy;

    if (from < 0 && to > 0 && hold_named(p, (uint64_t)-from))
        p->named[-from] = (uint32_t)to;
    return host->named ? host->named(host->ctx, from, to, err) : 0;
}

bool hold_named(struct plan *p, uint64_t number)
{
    return GROW_ZERO(p->named, number + 1, p->named_cap) == 0;
}

static int show_entry(void *ctx, const struct hierarchy *h, const struct entry *entry,
                      struct err *err)
{
    const struct plan *p = ctx;
    const struct hierarchy_host *host = &p->host->hierarchy;

    return host->entry ? host->entry(host->ctx, h, entry, err) : 0;
}

static int read_trace(struct plan *p, sqlite3 *db, struct err *err)
{
    struct tree_options options = { .moment = p->options->from,
                                    .host = { show_entry, take_named, p },
                                    .address = take_address,
                                    .called = p->options->only_tree ? NULL : take_called,
                                    .done = plan_note_unseen_name,
                                    .ctx = p,
                                    .filter = p->options->filter };

    p->spool = p->options->only_tree ? NULL : spool_new(err);
    if ((!p->spool && !p->options->only_tree) || tree_read(&p->tree, db, &options, err) < 0)
        return -err->code;
    if (!hold_named(p, (uint64_t)p->tree.learn.hierarchy.nameless + 1))
        return no_memory(err);
    if (plan_add_unseen_names(p, err) < 0 || tree_end(&p->tree, err) < 0)
        return -err->code;
    if (!p->host->tree)
        return 0;
    return tree_sort(&p->tree, err) < 0 ? -err->code : p->host->tree(p->host->ctx, &p->tree, err);
}

/* Pass 2 */

/* An operation on its way to the thread that finds its dependencies: this, its uses, its lists and
 * its bytes. */
struct job {
    struct rdump_operation operation;
    uint32_t use_count[2];
};

enum { JOB_LISTS = 2, JOB_BYTES = 4 };

/* What of an operation lies elsewhere. */
static struct bytes *bytes_of(struct rdump_operation *o, size_t i)
{
    struct bytes *const all[JOB_BYTES] = { &o->arguments, &o->links, &o->results, &o->names };

    return all[i];
}

static const uint32_t **lists_of(struct rdump_operation *o, size_t i)
{
    return i ? &o->forget : &o->cookies;
}

static size_t list_len(const struct rdump_operation *o, size_t i)
{
    return (i ? o->forget_count : o->cookie_count) * sizeof(uint32_t);
}

static int take_job(void *ctx, void *data, size_t len, struct err *err)
{
    struct plan *p = ctx;
    struct job *j = data;
    struct plan_edges edges[2] = { { 0 }, { 0 } };
    const uint8_t *at = (const uint8_t *)(j + 1);

    (void)len;
    for (int g = 0; g < 2; g++) {
        int64_t count = p->depend[g]
                            ? depend_next(p->depend[g], (const struct use *)(const void *)at,
                                          j->use_count[g], &edges[g].distances, err)
                            : 0;

        if (count < 0)
            return (int)count;
        edges[g].count = (uint32_t)count;
        at += j->use_count[g] * sizeof(struct use);
    }
    if (!p->host->operation)
        return 0;
    for (size_t i = 0; i < JOB_LISTS; i++) {
        *lists_of(&j->operation, i) = (const uint32_t *)(const void *)at;
        at += list_len(&j->operation, i);
    }
    for (size_t i = 0; i < JOB_BYTES; i++) {
        struct bytes *b = bytes_of(&j->operation, i);

        b->data = at;
        at += b->len;
    }
    j->operation.dependencies = edges[p->first].distances;
    j->operation.dependency_count = edges[p->first].count;
    return p->host->operation(p->host->ctx, &j->operation, edges, err);
}

static int queue_job(struct plan *p, const struct rehearsed *r, struct job *j, struct err *err)
{
    struct iovec pieces[3 + JOB_LISTS + JOB_BYTES] = { { j, sizeof(*j) } };

    for (int g = 0; g < 2; g++) {
        struct access *a = &p->access[g];

        a->count = 0;
        if (p->depend[g] && r->played && access_of(a, r->played, (enum granularity)g, err) < 0)
            return -err->code;
        j->use_count[g] = a->count;
        pieces[1 + g] = (struct iovec){ a->uses, a->count * sizeof(*a->uses) };
    }
    for (size_t i = 0; i < JOB_LISTS; i++)
        pieces[3 + i] =
            (struct iovec){ (void *)*lists_of(&j->operation, i), list_len(&j->operation, i) };
    for (size_t i = 0; i < JOB_BYTES; i++)
        pieces[3 + JOB_LISTS + i] = (struct iovec){ (void *)bytes_of(&j->operation, i)->data,
                                                    bytes_of(&j->operation, i)->len };
    return queue_put(p->queue, pieces, sizeof(pieces) / sizeof(*pieces), err);
}

static int take_rehearsed(void *ctx, const struct rehearsed *r, struct err *err)
{
    struct plan *p = ctx;
    const struct effect *e = &r->op->effect;
    struct job j = { .operation = {
                         .source = r->op->inferred ? 0 : e->id,
                         .inferred = r->op->inferred,
                         .unplayable = r->unplayable,
                         .time = e->call_time - p->first_time,
                         .latency = !r->op->inferred && e->pairing == PAIRED && e->timed
                                        ? e->done_time - e->call_time
                                        : -1,
                         .client = e->client_number,
                         .server = e->server_number,
                         .credential = e->credential,
                         .procedure = e->procedure
                                          ? rdump_procedure_number(e->program, e->procedure->number)
                                          : RDUMP_NO_PROCEDURE,
                         .status = e->status >= 0 ? (uint32_t)e->status : 0,
                         .made = r->made,
                         .arguments = e->arguments_body,
                         .mask = r->mask,
                         .digest = r->digest,
                         .links = r->links,
                         .results = r->results,
                         .names = r->names,
                         .cookie_from = r->cookie_from,
                         .cookie_entries = r->cookie_entries,
                         .cookies = r->cookies,
                         .cookie_count = r->cookie_count,
                         .forget = r->objects,
                         .forget_count = r->object_count,
                     } };

    if (r->op->inferred) {
        p->counts->inferred++;
        p->counts->by_reason[r->op->inferred]++;
        if (p->host->inferred && plan_show_inferred(p, r, err) < 0)
            return -err->code;
    }
    if (r->unplayable) {
        p->counts->unplayable++;
        p->counts->by_unplayable[r->unplayable]++;
        if (p->host->unplayable && p->host->unplayable(p->host->ctx, e->id, r->unplayable, err) < 0)
            return -err->code;
    }
    if (!p->queue)
        return 0;
    if (r->unplayable == UNPLAYABLE_PARTIAL) /* no XDR without its end */
        j.operation.arguments = (struct bytes){ 0 };
    return queue_job(p, r, &j, err);
}

static int play(struct plan *p, struct err *err)
{
    struct spooled *op;

    p->rehearsal.rehearsed = take_rehearsed;
    p->rehearsal.ctx = p;
    if (p->host->operation || p->depend[0] || p->depend[1]) {
        p->queue = queue_new(take_job, p, err);
        if (!p->queue)
            return -err->code;
    }
    if (spool_rewind(p->spool, err) < 0)
        return -err->code;
    while ((op = spool_take(p->spool, err)) != NULL)
        if (rehearse(&p->rehearsal, op, err) < 0)
            return -err->code;
    if (err->code || rehearsal_end(&p->rehearsal, err) < 0)
        return -err->code;
    return p->queue ? queue_drain(p->queue, err) : 0;
}

/* Who makes the calls that nobody else may make. */
static int choose_root(struct plan *p, sqlite3 *db, struct err *err)
{
    struct rehearsal *r = &p->rehearsal;
    int64_t id;

    for (uint32_t i = 1; i < p->credential_cap && !r->root_credential; i++) {
        const struct caller *c = p->credentials[i] ? caller_of(&r->callers, i) : NULL;

        if (c && c->uid == 0)
            r->root_credential = i;
    }
    if (r->root_credential)
        return 0;
    if (sql_number(db, "SELECT max(id) + 1 FROM credential", 1, &id, err) < 0)
        return -err->code;
    r->root_credential = (uint32_t)id;
    p->adds_root = true;
    return callers_add_root(&r->callers, r->root_credential, err);
}

static int run(struct plan *p, sqlite3 *db, struct err *err)
{
    struct hierarchy *h = &p->tree.learn.hierarchy;

    for (int g = 0; g < 2; g++) {
        if (!p->options->granularity[g])
            continue;
        p->depend[g] = depend_new(DEPEND_HORIZON, err);
        if (!p->depend[g])
            return -err->code;
    }
    p->first = p->options->granularity[ACCESS_FINE] ? ACCESS_FINE : ACCESS_OBJECT;
    if (read_trace(p, db, err) < 0)
        return -err->code;
    if (p->options->only_tree)
        return 0;
    if (hierarchy_rewind(h, err) < 0)
        return -err->code;
    if (rehearsal_init(&p->rehearsal, h, &p->tree.learn.repair, p->named, err) < 0) {
        p->named = NULL;
        return -err->code;
    }
    p->named = NULL; /* it is the rehearsal's */
    if (callers_read(&p->rehearsal.callers, db, err) < 0 || choose_root(p, db, err) < 0)
        return -err->code;
    p->rehearsal.refuses = p->refuses;
    p->rehearsal.with_results = p->options->with_results;
    p->rehearsal.available = p->credentials;
    p->rehearsal.available_count = p->credential_cap;
    if (plan_show_before(p, db, err) < 0)
        return -err->code;
    return play(p, err);
}

int plan_read(sqlite3 *db, const struct plan_options *options, const struct plan_host *host,
              struct plan_counts *counts, struct err *err)
{
    struct plan *p = calloc(1, sizeof(*p));
    int result;

    memset(counts, 0, sizeof(*counts));
    if (!p)
        return no_memory(err);
    p->options = options;
    p->host = host;
    p->counts = counts;
    result = run(p, db, err);
    queue_free(p->queue);
    counts->superfluous = p->rehearsal.superfluous;
    counts->compared = p->rehearsal.compared;
    memcpy(counts->unsure, p->rehearsal.unsure, sizeof(counts->unsure));
    for (int g = 0; g < 2; g++) {
        if (p->depend[g])
            counts->depend[g] = *depend_counts(p->depend[g]);
        depend_free(p->depend[g]);
    }
    rehearsal_free(&p->rehearsal);
    access_free(&p->access[0]);
    access_free(&p->access[1]);
    tree_free(&p->tree);
    spool_free(p->spool);
    for (uint32_t i = 0; i < p->host_count; i++)
        free(p->hosts[i]);
    free(p->hosts);
    free(p->named);
    free(p->entries);
    free(p->credentials);
    free(p->full);
    free(p->inside);
    free(p);
    return result;
}
