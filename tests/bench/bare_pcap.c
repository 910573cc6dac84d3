/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bare_pcap.c
 *
 * What libpcap alone costs: reads a capture to its end and adds up lengths.
 * Run: bare_pcap FILE
 */
#include <pcap/pcap.h>

#include <inttypes.h>
#include <stdio.h>

struct sum {
    uint64_t packets, bytes;
};

static void count(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
    struct sum *sum = (struct sum *)user;

    (void)data;
    sum->packets++;
    sum->bytes += header->caplen;
}

int main(int argc, char **argv)
{
    char text[PCAP_ERRBUF_SIZE];
    struct sum sum = { 0 };
    pcap_t *pcap;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: bare_pcap FILE\n");
        return 2;
    }
    pcap = pcap_open_offline(argv[1], text);
    if (!pcap) {
        fprintf(stderr, "%s\n", text);
        return 3;
    }
    rc = pcap_loop(pcap, -1, count, (u_char *)&sum);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", argv[1], pcap_geterr(pcap));
    else
        printf("%" PRIu64 " packets, %" PRIu64 " bytes\n", sum.packets, sum.bytes);
    pcap_close(pcap);
    return rc < 0 ? 3 : 0;
}
