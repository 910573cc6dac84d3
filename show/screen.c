/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Alternate screen, no cursor, lines that are too long are cut (xterm's control sequences). */
#define BEGIN "\033[?1049h\033[?25l\033[?7l\033[2J"
#define END "\033[?7h\033[?25h\033[?1049l"

/* Also in the thread of signals, so by plain system calls. */
static void restore(void *ctx)
{
    struct screen *s = ctx;

    tcsetattr(s->fd, TCSANOW, &s->before);
    if (write(s->fd, END, sizeof(END) - 1) < 0)
        errno = 0; /* it is gone */
}

int screen_begin(struct screen *s, FILE *out, struct err *err)
{
    struct termios raw;

    s->out = out;
    s->fd = isatty(fileno(out)) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
    if (s->fd < 0 || tcgetattr(s->fd, &s->before) < 0)
        return err_set(err, ERR_USAGE, "no terminal: %s", strerror(errno ? errno : ENOTTY));
    raw = s->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* a stopped program would leave the terminal as it is now */
    cleanup_hold();
    s->begun = true;
    cleanup_enter(&s->cleanup, restore, s);
    tcsetattr(s->fd, TCSANOW, &raw);
    fputs(BEGIN, out);
    fflush(out);
    cleanup_release();
    return 0;
}

void screen_end(struct screen *s)
{
    if (s->begun) {
        cleanup_hold();
        fflush(s->out);
        restore(s);
        cleanup_drop(&s->cleanup);
        s->begun = false;
        cleanup_release();
    }
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void screen_size(const struct screen *s, unsigned *lines, unsigned *columns)
{
    struct winsize size;

    *lines = 24;
    *columns = 80;
    if (ioctl(s->fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        *lines = size.ws_row;
        *columns = size.ws_col;
    }
}

void screen_clear(struct screen *s)
{
    fputs("\033[H", s->out);
}

void screen_line_end(struct screen *s)
{
    fputs("\033[K\r\n", s->out);
}

void screen_flush(struct screen *s)
{
    fputs("\033[K\033[J", s->out);
    fflush(s->out);
}

int screen_key(struct screen *s)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    unsigned char key;

    return poll(&p, 1, 0) > 0 && read(s->fd, &key, 1) == 1 ? key : 0;
}
