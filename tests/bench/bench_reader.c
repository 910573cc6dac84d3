/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_reader.c
 *
 *     bench_reader SOCKET
 *
 * A reader that has attached itself to a relay's ring, says so by an empty line, and sleeps until
 * it is ended.  For part_relay.py, which stops and kills such readers: what the system does to end
 * one is what it does to end a shadow's, and takes no more time than that.
 */
#include "ring/ring_door.h"

#include <stdio.h>
#include <unistd.h>

enum { FOR = 1200 /* s */ };

int main(int argc, char **argv)
{
    struct ring_reader *reader;
    struct err err;
    int fd;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_reader SOCKET\n");
        return 2;
    }
    if (ring_attach(argv[1], NULL, &fd, &reader, &err) < 0) {
        fprintf(stderr, "bench_reader: %s\n", err.text);
        return err.code;
    }
    puts("");
    fflush(stdout);
    sleep(FOR);
    ring_reader_free(reader);
    close(fd);
    return 0;
}
