/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bare_pcap.c
 *
 * What libpcap alone costs: reads a capture to its end and adds up lengths; with COPY, writes every
 * packet to it.
 * Run: bare_pcap FILE [COPY]
 */
#include <pcap/pcap.h>

#include <inttypes.h>
#include <stdio.h>

struct sum {
    uint64_t packets, bytes;
    pcap_dumper_t *copy;
};

static void count(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
    struct sum *sum = (struct sum *)user;

    sum->packets++;
    sum->bytes += header->caplen;
    if (sum->copy)
        pcap_dump((u_char *)sum->copy, header, data);
}

int main(int argc, char **argv)
{
    char text[PCAP_ERRBUF_SIZE];
    struct sum sum = { 0 };
    pcap_t *pcap;
    int rc;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: bare_pcap FILE [COPY]\n");
        return 2;
    }
    pcap = pcap_open_offline(argv[1], text);
    if (!pcap) {
        fprintf(stderr, "%s\n", text);
        return 3;
    }
    if (argc == 3 && !(sum.copy = pcap_dump_open(pcap, argv[2]))) {
        fprintf(stderr, "%s: %s\n", argv[2], pcap_geterr(pcap));
        return 4;
    }
    rc = pcap_loop(pcap, -1, count, (u_char *)&sum);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", argv[1], pcap_geterr(pcap));
    else
        printf("%" PRIu64 " packets, %" PRIu64 " bytes\n", sum.packets, sum.bytes);
    if (sum.copy && pcap_dump_flush(sum.copy) < 0) {
        fprintf(stderr, "%s: cannot be written\n", argv[2]);
        return 4;
    }
    if (sum.copy)
        pcap_dump_close(sum.copy);
    pcap_close(pcap);
    return rc < 0 ? 3 : 0;
}
