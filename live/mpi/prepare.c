/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/prepare.c
 *
 * What happens before ranks play together.  Each step ends with world_agree: if one rank cannot go
 * on, all end with its message.
 */
#include "mpi/run.h"
#include "replay/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static const int64_t START = 100000000; /* ns from the agreement to the beginning */

/* --- the same dumps */

/* What has to be equal in all ranks. */
struct same {
    uint64_t identity, operations;
};

/* All dumps are shared, whatever the first ones say: what all ranks do together must be the same.
 */
static int check_same(struct run *r, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < r->session.dump_count; i++) {
        const struct session_dump *d = &r->session.dumps[i];
        struct same first = { d->script.identity, d->survey.operations };

        world_share(r->world, &first, sizeof(first));
        if (result < 0)
            continue;
        if (first.identity != d->script.identity || first.operations != d->survey.operations)
            result = err_set(err, ERR_INPUT, "%s is not the dump that rank 0 has there", d->path);
        else if (d->script.is_pipe)
            result = err_set(err, ERR_USAGE, "%s is a pipe, and all ranks read the dump", d->path);
    }
    return result;
}

/* A rank that fails must still take part in what all share. */
static int open_session(struct run *r, struct err *err)
{
    int result = session_open(&r->session, r->options, err);

    if (result == 0)
        result = session_survey(&r->session, !r->options->partial, err);
    result = world_agree(r->world, result, err);
    if (result < 0)
        return result;
    r->session.follows = r->world->rank != 0;
    r->session.terminal &= r->world->rank == 0;
    return world_agree(r->world, check_same(r, err), err);
}

/* --- who plays what */

static int count_loads(struct run *r, struct err *err)
{
    const struct session *s = &r->session;
    int result = 0;

    for (uint32_t i = 0; i < s->dump_count && result == 0; i++)
        if (i % r->options->copies)
            owners_copy(&r->owners, i, i - 1);
        else
            result = owners_count(&r->owners, i, s->dumps[i].path, r->options->stop_after, err);
    return result;
}

static int assign_clients(struct run *r, struct err *err)
{
    struct session *s = &r->session;
    uint32_t *hosts = calloc(s->dump_count, sizeof(*hosts));
    int result = hosts ? 0 : err_memory(err, "the clients of ranks");

    for (uint32_t i = 0; hosts && i < s->dump_count; i++)
        hosts[i] = s->dumps[i].script.host_count;
    if (hosts)
        result = owners_new(&r->owners, r->world->count, hosts, s->dump_count, err);
    free(hosts);
    if (result == 0 && !r->world->rank)
        result = count_loads(r, err);
    result = world_agree(r->world, result, err);
    if (result < 0)
        return result;
    world_share(r->world, r->owners.load, owners_hosts(&r->owners) * sizeof(*r->owners.load));
    result = world_agree(r->world, owners_assign(&r->owners, err), err);
    if (result == 0 && owners_idle(&r->owners) && !r->world->rank && !r->options->quiet)
        fprintf(stderr,
                "nfsreplay-mpi: the trace has fewer clients than there are ranks: %u of %u have "
                "nothing to play\n",
                owners_idle(&r->owners), r->world->count);
    return result;
}

/* Each rank's part of what is a limit for all. */
static int share_limit(const struct run *r, uint64_t all, const char *name, uint32_t *part,
                       struct err *err)
{
    const struct world *w = r->world;

    *part = (uint32_t)(all / w->count + (w->rank < all % w->count));
    if (all && all < w->count)
        return err_set(err, ERR_USAGE, "%s %llu is less than 1 for each of %u ranks", name,
                       (unsigned long long)all, w->count);
    return 0;
}

/* --- trees */

/* The handle of what was removed is only made once. */
static void share_stale(struct run *r)
{
    for (uint32_t i = 0; i < r->session.dump_count; i++) {
        const struct session_dump *d = &r->session.dumps[i];
        struct play_tree *tree = &r->play.trees[i];

        for (uint32_t k = 0; k < d->target_count; k++) {
            uint32_t server = d->targets[k].target.server, len = tree->stale[server].len;

            world_share(r->world, tree->stale_handles[server], OBJECT_HANDLE_MAX);
            world_share(r->world, &len, sizeof(len));
            tree->stale[server] = (struct bytes){ tree->stale_handles[server], len };
        }
    }
}

/* Rank 0 first: it makes and removes a file. */
static int find_trees(struct run *r, struct err *err)
{
    const struct world *w = r->world;
    int result = 0;

    if (!w->rank)
        result = play_find(&r->play, &r->session, r->tally, err);
    result = world_agree(w, result, err);
    if (result < 0) /* in all ranks */
        return result;
    if (w->rank)
        result = play_find(&r->play, &r->session, r->tally, err);
    return world_agree(w, result, err);
}

static int open_play(struct run *r, struct err *err)
{
    struct play *p = &r->play;
    int result = find_trees(r, err);

    if (result < 0)
        return result;
    share_stale(r);
    result = share_limit(r, r->options->outstanding, "--outstanding", &p->outstanding, err);
    if (result == 0)
        result = share_limit(r, r->options->connections, "--connections", &p->connections, err);
    result = world_agree(r->world, result, err);
    if (result == 0) /* all have found it as it was */
        result = world_agree(r->world, r->world->rank ? 0 : play_note_trees(p, err), err);
    if (result < 0)
        return result;
    drop_trees(&r->session, r->report);
    result = world_agree(r->world, play_open(p, err), err);
    p->beside = r->world->beside;
    for (uint32_t i = 0; result == 0 && r->world->count > 1 && i < r->session.dump_count; i++)
        p->dumps[i].operations = owners_load(&r->owners, i, r->world->rank);
    return result;
}

/* --- links */

/* The address that other machines reach this one at: that which the target sees. */
static int own_address(const struct run *r, struct net_address *to, struct err *err)
{
    const struct net_address *target = &r->session.targets[0].target.nfs;
    struct net_address_name name = { .host = "" };
    int fd, result;

    if (r->world->beside == r->world->count)
        return net_address_parse("127.0.0.1:0", true, to, err);
    fd = socket(target->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &target->any, net_address_size(target)) < 0)
        result = err_set(err, ERR_SYSTEM, "this machine's address is not known");
    else
        result = net_address_of_socket(fd, to, err);
    if (fd >= 0)
        close(fd);
    if (result == 0 && net_address_is_loopback(to)) {
        gethostname(name.host, sizeof(name.host) - 1);
        result = net_address_resolve(&name, true, to, 1, err);
        result = result < 0 ? result : 0;
    }
    if (result == 0 && net_address_is_loopback(to))
        result = err_set(err, ERR_SYSTEM,
                         "the other machines cannot reach this one: its only known address is "
                         "one of its own");
    net_address_set_port(to, 0);
    return result;
}

static int open_links(struct run *r, struct err *err)
{
    struct world *w = r->world;
    struct links_setup setup = {
        .loop = r->session.loop, .rank = w->rank, .count = w->count, .host = run_host
    };
    struct net_address *addresses = calloc(w->count, sizeof(*addresses)), mine = { 0 };
    int result = addresses ? 0 : err_memory(err, "links between ranks");

    setup.host.ctx = r;
    if (result == 0 && !w->rank && getrandom(setup.token, LINKS_TOKEN, 0) != LINKS_TOKEN)
        result = err_set(err, ERR_SYSTEM, "the system gives no random bytes");
    world_share(w, setup.token, LINKS_TOKEN);
    if (result == 0)
        result = own_address(r, &mine, err);
    if (result == 0 && !(r->links = links_new(&setup, err)))
        result = -err->code;
    if (result == 0)
        result = links_listen(r->links, &mine, &mine, err);
    result = world_agree(w, result, err);
    if (result == 0) {
        world_gather(w, &mine, sizeof(mine), addresses);
        result = world_agree(w, links_connect(r->links, addresses, err), err);
    }
    free(addresses);
    return result;
}

int run_prepare(struct run *r, struct err *err)
{
    int result = open_session(r, err);

    if (result == 0)
        result = assign_clients(r, err);
    if (result == 0)
        result = open_play(r, err);
    if (result == 0 && r->world->count > 1)
        result = open_links(r, err);
    if (result == 0 && r->world->count > 1) {
        world_clocks(r->world);
        r->play.begin = world_moment(r->world, START);
    }
    return result;
}

void run_free(struct run *r)
{
    links_free(r->links);
    if (r->session.loop)
        loop_unset(r->session.loop, &r->hurry);
    if (r->play.session)
        play_free(&r->play);
    owners_free(&r->owners);
    session_progress(&r->session, NULL);
    session_close(&r->session);
    tally_free(r->tally);
    report_free(r->report);
}
