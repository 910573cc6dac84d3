/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sniff.h"
#include "capture/link_type.h"

#include <pcap/pcap.h>
#include <stdlib.h>

enum { TIMEOUT_MS = 50 };

struct sniff {
    pcap_t *pcap;
    const char *interface;
    int link_type, fd;
    int64_t unit; /* ns of tv_usec */
    uint64_t frames;
    /* libpcap counts in 32 bits */
    struct pcap_stat last;
    struct sniff_counts counts;
    /* of the caller of sniff_read */
    int (*each)(void *ctx, const struct frame *frame, struct err *err);
    void *ctx;
    struct err *err;
    int result;
};

static int refuse(const struct sniff *s, int status, struct err *err)
{
    const char *why = pcap_geterr(s->pcap);

    if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
        return err_set(
            err, ERR_SYSTEM,
            "%s: you are not allowed to capture here; run this as root, or let a program capture "
            "that may: sudo tcpdump -i %s -U -w - port 2049 | nfsdigest top -",
            s->interface, s->interface);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE)
        return err_set(err, ERR_USAGE, "%s: there is no such interface; \"tcpdump -D\" lists them",
                       s->interface);
    return err_set(err, ERR_SYSTEM, "%s: cannot capture: %s%s%s", s->interface,
                   pcap_statustostr(status), *why ? ": " : "", why);
}

static int set_filter(const struct sniff *s, const char *filter, struct err *err)
{
    struct bpf_program program;
    int result;

    if (!filter)
        return 0;
    if (pcap_compile(s->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
        return err_set(err, ERR_USAGE, "%s: %s", filter, pcap_geterr(s->pcap));
    result = pcap_setfilter(s->pcap, &program);
    pcap_freecode(&program);
    return result < 0 ? err_set(err, ERR_SYSTEM, "%s: %s", filter, pcap_geterr(s->pcap)) : 0;
}

static int begin(struct sniff *s, const char *filter, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    int status;

    pcap_set_snaplen(s->pcap, SNIFF_SNAPLEN);
    pcap_set_timeout(s->pcap, TIMEOUT_MS);
    pcap_set_buffer_size(s->pcap, SNIFF_BUFFER);
    pcap_set_tstamp_precision(s->pcap, PCAP_TSTAMP_PRECISION_NANO); /* if it has them */
    status = pcap_activate(s->pcap);
    if (status < 0)
        return refuse(s, status, err);
    s->unit = pcap_get_tstamp_precision(s->pcap) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
    s->link_type = link_type_of(pcap_datalink(s->pcap));
    if (set_filter(s, filter, err) < 0)
        return -err->code;
    s->fd = pcap_get_selectable_fd(s->pcap);
    if (s->fd < 0 || pcap_setnonblock(s->pcap, 1, text) < 0)
        return err_set(err, ERR_SYSTEM, "%s: cannot be waited for: %s", s->interface, text);
    return 0;
}

struct sniff *sniff_open(const char *interface, const char *filter, struct err *err)
{
    struct sniff *s = calloc(1, sizeof(*s));
    char text[PCAP_ERRBUF_SIZE] = "";

    if (!s) {
        err_memory(err, "a capture");
        return NULL;
    }
    s->interface = interface;
    s->pcap = pcap_create(interface, text);
    if (!s->pcap)
        err_set(err, ERR_SYSTEM, "%s: %s", interface, text);
    if (!s->pcap || begin(s, filter, err) < 0) {
        sniff_close(s);
        return NULL;
    }
    return s;
}

void sniff_close(struct sniff *s)
{
    if (!s)
        return;
    if (s->pcap)
        pcap_close(s->pcap);
    free(s);
}

int sniff_fd(const struct sniff *s)
{
    return s->fd;
}

static void take(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
    struct sniff *s = (struct sniff *)(void *)user;
    const struct frame frame = {
        .number = ++s->frames,
        .time = (int64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec * s->unit,
        .data = data,
        .cap_len = header->caplen,
        .wire_len = header->len > header->caplen ? header->len : header->caplen,
        .link_type = s->link_type,
    };

    s->result = s->each(s->ctx, &frame, s->err);
    if (s->result < 0)
        pcap_breakloop(s->pcap);
}

int sniff_read(struct sniff *s, int most,
               int (*each)(void *ctx, const struct frame *frame, struct err *err), void *ctx,
               struct err *err)
{
    int count;

    s->each = each;
    s->ctx = ctx;
    s->err = err;
    s->result = 0;
    count = pcap_dispatch(s->pcap, most, take, (u_char *)s);
    if (s->result < 0)
        return s->result;
    if (count < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", s->interface, pcap_geterr(s->pcap));
    return count;
}

void sniff_count(struct sniff *s, struct sniff_counts *counts)
{
    struct pcap_stat now;

    if (pcap_stats(s->pcap, &now) == 0) {
        s->counts.received += now.ps_recv - s->last.ps_recv;
        s->counts.dropped += now.ps_drop - s->last.ps_drop;
        s->counts.interface_dropped += now.ps_ifdrop - s->last.ps_ifdrop;
        s->last = now;
    }
    *counts = s->counts;
}
