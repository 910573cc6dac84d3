/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_run.c
 *
 * nfstee run: a relay and a shadow as two processes, so that nothing that the shadow does, not even
 * its death, reaches the clients.
 *
 * The relay's standard output says where it listens.  It comes at once, when the relay has begun.
 */
#include "base/janitor.h"
#include "net/address.h"
#include "tee/child.h"
#include "tee/commands.h"
#include "tee/run_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

enum {
    MAX_PAUSE = 60,   /* s, between two shadows */
    LONG_LIFE = 60,   /* s, after which pauses are short again */
    END_PATIENCE = 20 /* s, for a shadow after the end of its relay */
};

struct running {
    struct run_options options;
    struct loop *loop;
    struct janitor janitor;
    char folder[200], attach[220]; /* of the ring's socket */
    struct child relay, shadow;
    struct watch said; /* the relay's standard output */
    char line[512];    /* of it, up to where it was read */
    size_t line_len;
    struct nfs_address place; /* the relay's, with the export */
    struct timer alone, again, end;
    uint32_t shadows; /* that were started */
    int64_t pause;    /* s */
    int64_t began;    /* the shadow */
    int relay_code, shadow_code;
    char how[80]; /* the shadow ended */
    bool differ, done;
};

/* --- the shadow */

/* DIR.2 of DIR, and of DIR/, too: within the log before, a log would be lost. */
static void name_log(const struct running *p, uint32_t number, char name[PATH_MAX])
{
    const char *first = p->options.shadow.log;
    int len = (int)strlen(first);

    while (len > 1 && first[len - 1] == '/')
        len--;
    snprintf(name, PATH_MAX, "%.*s.%" PRIu32, len, first, number);
}

static int start_shadow(struct running *p, struct err *err)
{
    const struct passed *passed = &p->options.to_shadow;
    const char *argv[PASSED_WORDS + 16];
    char place[NFS_ADDRESS_TEXT], log[PATH_MAX];
    int count = 0;

    argv[count++] = "nfstee";
    argv[count++] = "shadow";
    for (uint32_t i = 0; i < passed->count; i++)
        argv[count++] = passed->words[i];
    nfs_address_text(&p->place, place);
    argv[count++] = "--attach";
    argv[count++] = p->attach;
    argv[count++] = "--relay";
    argv[count++] = place;
    if (++p->shadows > 1) { /* the last one of an option counts */
        name_log(p, p->shadows, log);
        argv[count++] = "--log";
        argv[count++] = log;
    }
    argv[count] = NULL;
    p->began = loop_clock();
    return child_start(&p->shadow, argv, -1, err);
}

static int on_again(void *ctx, struct err *err)
{
    return start_shadow(ctx, err);
}

static void finish(struct running *p)
{
    p->done = true;
    loop_stop(p->loop);
}

static int shadow_ended(void *ctx, int code, const char *how, struct err *err)
{
    struct running *p = ctx;

    p->shadow_code = code;
    p->differ |= code == 1;
    if (!p->relay.pid) {
        finish(p);
        return 0;
    }
    snprintf(p->how, sizeof(p->how), "%s", how);
    return loop_set(p->loop, &p->alone, loop_clock() + SECOND / 2, err);
}

/* The shadow did not end because the relay did. */
static int on_alone(void *ctx, struct err *err)
{
    struct running *p = ctx;
    char log[PATH_MAX];

    /* a shadow that was refused would be refused again */
    if (!p->options.restart || p->shadow_code <= ERR_USAGE) {
        fprintf(stderr, "nfstee: the shadow %s; clients are relayed without it\n", p->how);
        return 0;
    }
    if (loop_clock() - p->began > LONG_LIFE * SECOND)
        p->pause = 0;
    p->pause = !p->pause ? 1 : p->pause * 2 < MAX_PAUSE ? p->pause * 2 : MAX_PAUSE;
    name_log(p, p->shadows + 1, log);
    fprintf(stderr, "nfstee: the shadow %s; it begins again in %" PRId64 " s, with the log %s\n",
            p->how, p->pause, log);
    return loop_set(p->loop, &p->again, loop_clock() + p->pause * SECOND, err);
}

/* --- what the relay says */

/* "NFS: ADDRESS:PORT to SERVER", and the same for MOUNT; of several addresses the first. */
static int take_place(struct running *p, const char *text, uint16_t *port, struct err *err)
{
    const char *end = strstr(text, " to ");
    char name[NET_ADDRESS_TEXT], host[NET_ADDRESS_TEXT];
    struct net_address address;

    if (!end || *port || end - text >= (ptrdiff_t)sizeof(name))
        return 0;
    memcpy(name, text, (size_t)(end - text));
    name[end - text] = '\0';
    if (net_address_parse(name, true, &address, err) < 0)
        return err_prefix(err, "the relay's address, %s", name);
    *port = net_address_port(&address);
    if (port != &p->place.nfs_port)
        return 0;
    net_address_host_text(&address, host);
    if (strcmp(host, "0.0.0.0") == 0)
        snprintf(host, sizeof(host), "127.0.0.1");
    else if (strcmp(host, "::") == 0)
        snprintf(host, sizeof(host), "::1");
    snprintf(p->place.host, sizeof(p->place.host), "%s", host);
    return 0;
}

static int take_line(struct running *p, const char *line, struct err *err)
{
    FILE *to = p->options.shadow.json ? stderr : stdout;

    if (!p->options.shadow.quiet) {
        fprintf(to, "%s\n", line);
        fflush(to);
    }
    if (strncmp(line, "NFS: ", 5) == 0)
        return take_place(p, line + 5, &p->place.nfs_port, err);
    if (strncmp(line, "MOUNT: ", 7) == 0)
        return take_place(p, line + 7, &p->place.mount_port, err);
    return 0;
}

static void close_said(struct running *p)
{
    int fd = p->said.fd;

    if (fd < 0)
        return;
    loop_unwatch(p->loop, &p->said);
    close(fd);
}

/* Returns 1 if there may be more, 0 if not now, or a negative code. */
static int read_said(struct running *p, struct err *err)
{
    char bytes[4096];
    ssize_t got = read(p->said.fd, bytes, sizeof(bytes));

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got <= 0) {
        close_said(p);
        return 0;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            if (p->line_len < sizeof(p->line) - 1)
                p->line[p->line_len++] = bytes[i];
            continue;
        }
        p->line[p->line_len] = '\0';
        p->line_len = 0;
        if (take_line(p, p->line, err) < 0)
            return -err->code;
    }
    return 1;
}

static int on_said(void *ctx, uint32_t events, struct err *err)
{
    struct running *p = ctx;

    (void)events;
    if (read_said(p, err) < 0)
        return -err->code;
    if (p->shadows || !p->place.nfs_port)
        return 0;
    if (!p->place.mount_port)
        p->place.mount_port = p->place.nfs_port;
    return start_shadow(p, err);
}

/* --- the relay */

static int on_patience(void *ctx, struct err *err)
{
    struct running *p = ctx;

    (void)err;
    fprintf(stderr, "nfstee: the shadow did not end %d s after its relay, and is killed\n",
            END_PATIENCE);
    child_signal(&p->shadow, SIGKILL);
    return 0;
}

static int relay_ended(void *ctx, int code, const char *how, struct err *err)
{
    struct running *p = ctx;
    int result = 0;

    p->relay_code = code;
    while (p->said.fd >= 0 && (result = read_said(p, err)) > 0)
        ;
    if (result < 0)
        return result;
    close_said(p);
    if (code)
        fprintf(stderr, "nfstee: the relay %s\n", how);
    loop_unset(p->loop, &p->alone);
    loop_unset(p->loop, &p->again);
    if (!p->shadow.pid) {
        finish(p);
        return 0;
    }
    return loop_set(p->loop, &p->end, loop_clock() + END_PATIENCE * SECOND, err);
}

static int start_relay(struct running *p, struct err *err)
{
    const struct passed *passed = &p->options.to_relay;
    const char *argv[PASSED_WORDS + 16];
    int count = 0, ends[2], result;

    argv[count++] = "nfstee";
    argv[count++] = "relay";
    for (uint32_t i = 0; i < passed->count; i++)
        argv[count++] = passed->words[i];
    argv[count++] = "--attach";
    argv[count++] = p->attach;
    argv[count] = NULL;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, ERR_SYSTEM, "a pipe: %s", strerror(errno));
    result = child_start(&p->relay, argv, ends[1], err);
    close(ends[1]);
    if (result < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        close(ends[0]);
        return result < 0 ? result : err_set(err, ERR_SYSTEM, "a pipe: %s", strerror(errno));
    }
    p->said = (struct watch){ .fd = ends[0], .ready = on_said, .ctx = p };
    return loop_watch(p->loop, &p->said, EPOLLIN, err);
}

/* --- the run */

static int make_folder(struct running *p, struct err *err)
{
    const char *where = getenv("TMPDIR");
    int len = snprintf(p->folder, sizeof(p->folder), "%s/nfstee-XXXXXX",
                       where && *where ? where : "/tmp");

    if (len >= (int)sizeof(p->folder))
        return err_set(err, ERR_SYSTEM, "a folder for the ring's socket, %.200s: %s", p->folder,
                       strerror(ENAMETOOLONG));
    if (janitor_start(&p->janitor, p->folder, err) < 0)
        return err_prefix(err, "a folder for the ring's socket");
    snprintf(p->attach, sizeof(p->attach), "%s/ring", p->folder);
    return 0;
}

static int begin(struct running *p, struct err *err)
{
    if (nfs_address_parse(p->options.relay.to, &p->place, err) < 0)
        return err_prefix(err, "--to");
    p->place.nfs_port = p->place.mount_port = 0;
    p->said.fd = p->relay.watch.fd = p->shadow.watch.fd = -1;
    if (make_folder(p, err) < 0)
        return -err->code;
    p->loop = loop_new(err);
    if (!p->loop || loop_take_signals(p->loop, err) < 0)
        return -err->code;
    p->relay = (struct child){ .loop = p->loop, .ended = relay_ended, .ctx = p };
    p->shadow = (struct child){ .loop = p->loop, .ended = shadow_ended, .ctx = p };
    p->alone = (struct timer){ .due = on_alone, .ctx = p };
    p->again = (struct timer){ .due = on_again, .ctx = p };
    p->end = (struct timer){ .due = on_patience, .ctx = p };
    return start_relay(p, err);
}

/* The first signal ends the relay, with which the shadow ends; a further one hurries the shadow. */
static int run(struct running *p, struct err *err)
{
    int result = 0, signals = 0;

    while (result == 0 && !p->done) {
        result = loop_run(p->loop, err);
        if (result < 0 || p->done)
            break;
        if (signals++ || !p->relay.pid)
            child_signal(&p->shadow, SIGTERM);
        child_signal(&p->relay, SIGTERM);
    }
    return result;
}

int cmd_run(int argc, char **argv, struct err *err)
{
    struct running *p = calloc(1, sizeof(*p));
    int result = p ? run_options_parse(&p->options, argc, argv, err) : err_memory(err, "options");

    if (result != 1) {
        free(p);
        return result;
    }
    result = begin(p, err);
    if (result == 0)
        result = run(p, err);
    child_kill(&p->shadow);
    child_kill(&p->relay);
    if (p->loop) {
        close_said(p);
        loop_unset(p->loop, &p->alone);
        loop_unset(p->loop, &p->again);
        loop_unset(p->loop, &p->end);
    }
    loop_free(p->loop);
    janitor_stop(&p->janitor);
    if (result == 0)
        result = p->relay_code        ? p->relay_code
                 : p->shadow_code > 1 ? p->shadow_code
                 : p->differ          ? 1
                                      : 0;
    free(p);
    return result;
}
