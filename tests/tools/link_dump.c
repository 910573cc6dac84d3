/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/link_dump.c
 *
 * Prints what engine/link delivers for a capture, one line each, separated by tabs:
 *     frame  source  destination  protocol  length
 * where length is the TCP payload's as the IP header has it, or the UDP header's length field; "-"
 * when the bytes that say so were not captured or make no sense.
 *
 *     link_dump FILE      prints the lines
 *     link_dump -c FILE   prints the counters instead
 *     link_dump -b FILE   prints nanoseconds per frame, best of some rounds over FILE in memory
 */
#include "base/bytes.h"
#include "link/link.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct capture {
    pcap_t *pcap;
    struct frame frame;
};

static int print_payload(void *ctx, const struct frame *frame, const struct ip_payload *p,
                         struct err *err)
{
    char source[ADDRESS_TEXT_MAX], destination[ADDRESS_TEXT_MAX], len[16] = "-";

    (void)ctx;
    (void)err;
    if (p->hole) /* tshark shows no begins of datagrams that stay incomplete */
        return 0;
    if (p->protocol == 6 && p->cap_len >= 16) {
        uint32_t header = (p->data[12] >> 4) * 4;

        if (header >= 20 && header <= p->wire_len)
            snprintf(len, sizeof(len), "%" PRIu32, p->wire_len - header);
    } else if (p->protocol == 17 && p->cap_len >= 6) {
        snprintf(len, sizeof(len), "%u", load_be16(p->data + 4));
    }
    printf("%" PRIu64 "\t%s\t%s\t%u\t%s\n", frame->number, address_text(&p->source, source),
           address_text(&p->destination, destination), p->protocol, len);
    return 0;
}

static int print_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)ctx;
    (void)err;
    printf("%s\t%" PRIu64 "\n", name, value);
    return 0;
}

static int sum_payload(void *ctx, const struct frame *frame, const struct ip_payload *p,
                       struct err *err)
{
    uint64_t *sum = ctx;

    (void)frame;
    (void)err;
    *sum += p->cap_len + p->source.bytes[3] + p->protocol;
    return 0;
}

/* Returns 1 with the next frame, 0 at the end. */
static int next_frame(struct capture *capture)
{
    struct pcap_pkthdr *header;
    const u_char *data;
    int rc = pcap_next_ex(capture->pcap, &header, &data);

    if (rc == PCAP_ERROR_BREAK)
        return 0;
    if (rc != 1) {
        fprintf(stderr, "link_dump: %s\n", pcap_geterr(capture->pcap));
        exit(3);
    }
    capture->frame.number++;
    capture->frame.time = (int64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
    capture->frame.data = data;
    capture->frame.cap_len = header->caplen;
    capture->frame.wire_len = header->len;
    capture->frame.link_type = pcap_datalink(capture->pcap);
    return 1;
}

static int run(struct capture *capture, struct link *link, bool counters)
{
    struct err err = { 0 };

    while (next_frame(capture))
        if (link_frame(link, &capture->frame, &err) < 0) {
            fprintf(stderr, "link_dump: %s\n", err.text);
            return err.code;
        }
    if (counters)
        link_counters(link, print_counter, NULL, &err);
    return 0;
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Frames in memory one behind the other, as a reader of mapped files would have them. */
static int bench(struct capture *capture, struct link *link, const uint64_t *sum)
{
    struct buf data = { 0 }, frames = { 0 };
    struct err err = { 0 };
    double best = 0;

    while (next_frame(capture))
        if (buf_append(&frames, &capture->frame, sizeof(capture->frame)) < 0 ||
            buf_append(&data, capture->frame.data, capture->frame.cap_len) < 0)
            return 4;

    size_t count = frames.len / sizeof(struct frame);
    struct frame *list = (struct frame *)frames.data;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        list[i].data = data.data + at;
        at += list[i].cap_len;
    }
    for (int round = 0; round < 20 && count; round++) {
        int64_t start = now();

        for (size_t i = 0; i < count; i++)
            if (link_frame(link, &list[i], &err) < 0)
                return err.code;

        double ns = (double)(now() - start) / (double)count;

        if (!round || ns < best)
            best = ns;
    }
    printf("%zu frames, %.1f ns a frame (sum %" PRIu64 ")\n", count, best, *sum);
    buf_free(&data);
    buf_free(&frames);
    return 0;
}

int main(int argc, char **argv)
{
    char problem[PCAP_ERRBUF_SIZE];
    struct capture capture = { 0 };
    struct link *link;
    uint64_t sum = 0;
    char mode = 'p';
    int rc;

    if (argc == 3 && (!strcmp(argv[1], "-b") || !strcmp(argv[1], "-c")))
        mode = argv[1][1];
    else if (argc != 2) {
        fprintf(stderr, "usage: link_dump [-b|-c] FILE\n");
        return 2;
    }
    capture.pcap = pcap_open_offline_with_tstamp_precision(argv[argc - 1],
                                                           PCAP_TSTAMP_PRECISION_NANO, problem);
    if (!capture.pcap) {
        fprintf(stderr, "link_dump: %s\n", problem);
        return 3;
    }
    link = link_new(mode == 'p' ? print_payload : mode == 'b' ? sum_payload : NULL, &sum);
    if (!link)
        return 4;
    rc = mode == 'b' ? bench(&capture, link, &sum) : run(&capture, link, mode == 'c');
    link_free(link);
    pcap_close(capture.pcap);
    return rc;
}
