/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AT_CLOCK = 1 << 16 }; /* frames between two looks */

static int number(const char *text, double least, double most, double *value, const char **end)
{
    char *stop;

    errno = 0;
    *value = strtod(text, &stop);
    *end = stop;
    return errno || stop == text || !(*value >= least && *value <= most) ? -1 : 0;
}

static int span(const char *option, const char *text, int64_t *to, struct err *err)
{
    const char *end;
    double seconds;

    if (number(text, 0, 1e9, &seconds, &end) < 0 || *end)
        return err_set(err, ERR_USAGE, "--%s takes seconds, not \"%s\"", option, text);
    *to = (int64_t)(seconds * 1e9);
    if (!*to)
        *to = 1; /* 0 would ask for the default */
    return 0;
}

int engine_setting(struct engine_settings *settings, int option, const char *value, struct err *err)
{
    struct engine_options *o = &settings->options;
    const char *end;
    double n;
    int rc = 0;

    switch (option) {
    case OPTION_RPC_PORT:
        if (number(value, 1, 65535, &n, &end) < 0 || *end || n != (uint16_t)n)
            return err_set(err, ERR_USAGE, "--rpc-port takes a port from 1 to 65535, not \"%s\"",
                           value);
        if (o->port_count == ENGINE_PORTS_MAX)
            return err_set(err, ERR_USAGE, "--rpc-port: at most %d ports", ENGINE_PORTS_MAX);
        settings->ports[o->port_count++] = (uint16_t)n;
        o->ports = settings->ports;
        return 1;
    case OPTION_WINDOW:
        if (number(value, 1, 1 << 30, &n, &end) == 0 && (*end == 'k' || *end == 'M'))
            n *= *end++ == 'k' ? 1024 : 1024 * 1024;
        if (*end || !(n >= 4096 && n <= 1 << 30))
            return err_set(err, ERR_USAGE, "--window takes 4k to 1024M bytes, not \"%s\"", value);
        o->stream_window = (uint32_t)n;
        return 1;
    case OPTION_RETRANSMIT_SPAN:
        rc = span("retransmit-span", value, &o->retransmit_span, err);
        return rc < 0 ? rc : 1;
    case OPTION_REORDER_SPAN:
        rc = span("reorder-span", value, &o->reorder_span, err);
        return rc < 0 ? rc : 1;
    default:
        return 0;
    }
}

struct progress {
    bool wanted, shown;
    struct timespec next;
};

static void progress_show(struct progress *p, const struct input *input, uint64_t frames)
{
    struct timespec now;
    double part = input_progress(input);

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!p->next.tv_sec) {
        p->next = now;
        p->next.tv_sec += 2; /* what is done sooner needs none */
    }
    if (now.tv_sec < p->next.tv_sec ||
        (now.tv_sec == p->next.tv_sec && now.tv_nsec < p->next.tv_nsec))
        return;
    p->next = now;
    p->next.tv_sec++;
    p->shown = true;
    if (part >= 0)
        fprintf(stderr, "\r%s: %llu packets, %.0f %%\033[K", input_name(input),
                (unsigned long long)frames, part * 100);
    else
        fprintf(stderr, "\r%s: %llu packets\033[K", input_name(input), (unsigned long long)frames);
}

int feed_capture(struct engine *engine, struct input *input, struct capture *capture,
                 uint64_t *frames, struct err *err)
{
    struct progress progress = { .wanted = isatty(STDERR_FILENO) };
    uint64_t base = *frames;
    struct frame frame;
    int rc;

    while ((rc = capture_next(capture, &frame, err)) == 1) {
        frame.number += base;
        *frames = frame.number;
        if ((rc = engine_frame(engine, &frame, err)) < 0)
            break;
        if (progress.wanted && frame.number % LOOK_AT_CLOCK == 0)
            progress_show(&progress, input, frame.number - base);
    }
    if (progress.shown)
        fputs("\r\033[K", stderr);
    return rc;
}
