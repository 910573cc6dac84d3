/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "show/colour.h"
#include "show/lines.h"
#include "show/rate.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, EACH_MS = 200 };

static struct {
    int64_t start, last; /* ms; 0: not yet */
    bool shown, is_terminal;
    struct rate rate;
} state;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void show(void *ctx, const char *step, const struct input *input)
{
    char text[RATE_TEXT_MAX];
    int64_t now = now_ms();

    (void)ctx;
    if (!state.start) {
        state.start = now;
        state.is_terminal = isatty(STDERR_FILENO);
    }
    if (state.is_terminal)
        rate_text(&state.rate, input_offset(input), input_progress(input), now, text);
    if (!state.is_terminal || now - state.start < FIRST_MS || now - state.last < EACH_MS)
        return;
    state.last = now;
    state.shown = true;
    fprintf(stderr, "\r%s%s", step, *step ? " " : "");
    escape_print(stderr, input_name(input));
    fprintf(stderr, ": %s", text);
    line_rest(stderr);
    fflush(stderr);
}

void progress_clear(void)
{
    if (state.shown)
        lines_again(stderr, 0);
    state.shown = false;
}

static void say_in(bool colour, const char *text)
{
    cleanup_hold(); /* what fails because a signal ends all is no news */
    progress_clear();
    colour_put(stderr, colour, COLOUR_BAD, "nfsdigest:");
    putc(' ', stderr);
    escape_print(stderr, text);
    putc('\n', stderr);
    cleanup_release();
}

void say(const char *text)
{
    say_in(false, text);
}

void say_error(const char *text)
{
    say_in(colour_is_wanted(stderr), text);
}

int finish_output(struct err *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set(err, ERR_SYSTEM, "standard output: %s", strerror(errno));
    return 0;
}

static void done(void *ctx)
{
    (void)ctx;
    progress_clear();
}

static void say_it(void *ctx, const char *text)
{
    (void)ctx;
    say(text);
}

const struct progress progress_line = { show, done, say_it, NULL };
