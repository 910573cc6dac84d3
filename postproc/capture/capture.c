/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/capture.c
 *
 * Chooses pcapng.c or libpcap by the first bytes.  Both read from a stdio file over struct input,
 * and track.c follows along, so that a message can name the byte where a packet of a pcap file
 * begins.  Formats that only tshark reads are named to the user.  For whoever reads captures, first
 * of all feed.c.  The contract is in capture.h.
 */
#include "capture/capture.h"
#include "capture/link_type.h"
#include "capture/pcapng.h"
#include "capture/track.h"
#include "base/bytes.h"
#include "link/pcapng_numbers.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum { STDIO_SIZE = 1 << 20 }; /* halves the time of libpcap's own 4 KiB */

struct capture {
    struct input *input;
    struct track track;
    struct err input_error;
    FILE *file;
    char *file_buffer;
    pcap_t *pcap; /* or */
    struct pcapng *png;
    uint64_t frames;
    uint32_t skipped; /* frames that are no packets, since the last one that is */
    uint64_t since; /* the byte of the file from which frames are counted; 0: from its beginning */
    uint64_t left_out; /* bytes of the file in front of it, of a pcap file */
    int link_type;
};

bool capture_is(const uint8_t *head, size_t len)
{
    static const uint32_t magics[] = { 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d,    0x4d3cb2a1,
                                       0xa1b2cd34, 0x34cdb2a1, PCAPNG_SECTION };

    for (size_t i = 0; len >= 4 && i < sizeof(magics) / sizeof(*magics); i++)
        if (load_le32(head) == magics[i])
            return true;
    return false;
}

static ssize_t cookie_read(void *ctx, char *data, size_t len)
{
    struct capture *capture = ctx;
    ssize_t n = input_read(capture->input, data, len, &capture->input_error);

    if (n < 0)
        return -1;
    track_bytes(&capture->track, (const uint8_t *)data, (size_t)n);
    return n;
}

/* Formats of captures that libpcap does not read and tshark does. */
static const char *other_format(const uint8_t *head, size_t len)
{
    static const struct {
        const char *name;
        const char *magic;
        size_t len;
    } formats[] = {
        { "snoop", "snoop\0\0\0", 8 },
        { "Network Monitor", "RTSS", 4 },
        { "Network Monitor", "GMBU", 4 },
        { "Sniffer", "TRSNIFF data    \x1a", 17 },
        { "NetXray", "XCP\0", 4 },
        { "Observer", "ObserverPktBuffe", 16 },
        { "iptrace", "iptrace ", 8 },
        { "nettl", "\x54\x52\x00\x64\x00", 5 },
        { "LANalyzer", "\x01\x10\x4c\x00\x01\x05\x54\x72\x61\x63\x65", 11 },
    };

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (len >= formats[i].len && memcmp(head, formats[i].magic, formats[i].len) == 0)
            return formats[i].name;
    return NULL;
}

static void refuse(const struct capture *capture, const char *why, struct err *err)
{
    const uint8_t *head;
    size_t len = input_head(capture->input, &head);
    const char *name = input_name(capture->input), *format;

    if (capture->input_error.code)
        *err = capture->input_error;
    else if (!len)
        err_set(err, ERR_INPUT, "%s: empty", name);
    else if (!capture_is(head, len) && (format = other_format(head, len)))
        err_set(err, ERR_INPUT,
                "%s: a capture of the format %s, which tshark reads: tshark -r FILE -q -z "
                "nfspair,out=-",
                name, format);
    else if (!capture_is(head, len))
        err_set(err, ERR_INPUT,
                "%s: not a capture: pcap or pcapng was expected at byte 0; captures of other "
                "formats go through tshark -r FILE -q -z nfspair,out=-",
                name);
    else
        err_set(err, ERR_INPUT, "%s: cannot be read as a capture, at byte 0: %s", name, why);
}

struct capture *capture_open(struct input *input, struct err *err)
{
    struct capture *capture = calloc(1, sizeof(*capture));
    char text[PCAP_ERRBUF_SIZE] = "";
    const uint8_t *head;
    size_t len = input_head(input, &head);

    if (!capture) {
        err_memory(err, "a capture");
        return NULL;
    }
    capture->input = input;
    track_begin(&capture->track, head, len);
    capture->file = fopencookie(capture, "r", (cookie_io_functions_t){ .read = cookie_read });
    capture->file_buffer = malloc(STDIO_SIZE);
    if (!capture->file || !capture->file_buffer) {
        err_memory(err, "a capture");
        capture_close(capture);
        return NULL;
    }
    setvbuf(capture->file, capture->file_buffer, _IOFBF, STDIO_SIZE);
    __fsetlocking(capture->file, FSETLOCKING_BYCALLER);
    if (pcapng_is(head, len)) {
        capture->png = pcapng_open(capture->file, input_name(input), err);
        if (!capture->png) {
            capture_close(capture);
            return NULL;
        }
        return capture;
    }
    capture->pcap =
        pcap_fopen_offline_with_tstamp_precision(capture->file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!capture->pcap) {
        refuse(capture, text, err);
        capture_close(capture);
        return NULL;
    }
    capture->link_type = link_type_of(pcap_datalink(capture->pcap));
    return capture;
}

void capture_close(struct capture *capture)
{
    if (!capture)
        return;
    if (capture->pcap)
        pcap_close(capture->pcap); /* closes the file too */
    else if (capture->file)
        fclose(capture->file);
    pcapng_close(capture->png);
    free(capture->file_buffer);
    free(capture);
}

/* After a failed read: says what is there, and where. */
static int broken(struct capture *capture, struct err *err)
{
    const char *name = input_name(capture->input);
    unsigned long long packet = capture->frames + 1;
    const uint64_t left_out = capture->left_out;
    char since[TRACK_SINCE];
    uint64_t start;

    if (capture->input_error.code) {
        *err = capture->input_error;
        return -err->code;
    }
    track_since(since, capture->since);
    if (track_inside(&capture->track, &start) && input_offset(capture->input) == capture->track.pos)
        return err_set(err, ERR_INPUT,
                       "%s: cut in the middle of packet %llu%s, which begins at byte %llu", name,
                       packet, since, (unsigned long long)(left_out + start));
    if (capture->track.lost && start)
        return err_set(err, ERR_INPUT, "%s: damaged at byte %llu, after packet %llu%s: %s", name,
                       (unsigned long long)(left_out + start), packet - 1, since,
                       pcap_geterr(capture->pcap));
    return err_set(err, ERR_INPUT, "%s: damaged after packet %llu%s, before byte %llu: %s", name,
                   packet - 1, since, (unsigned long long)(left_out + capture->track.pos),
                   pcap_geterr(capture->pcap));
}

static int next_block(struct capture *capture, struct pcapng_block *block, struct frame *frame,
                      struct err *err)
{
    int result = pcapng_next(capture->png, block, frame, err);

    if (result == 1 && block->is_frame) {
        frame->number = ++capture->frames;
        frame->skipped = capture->skipped;
        capture->skipped = block->is_packet ? 0 : capture->skipped + 1;
    }
    if (result < 1 && capture->input_error.code) {
        *err = capture->input_error;
        return -err->code;
    }
    return result;
}

int capture_next_block(struct capture *capture, struct pcapng_block *block, struct frame *frame,
                       struct err *err)
{
    *block = (struct pcapng_block){ .is_packet = true };
    return capture->png ? next_block(capture, block, frame, err)
                        : capture_next(capture, frame, err);
}

int capture_head(struct capture *capture, uint32_t head, uint64_t from, struct err *err)
{
    struct pcapng_block block;
    struct frame frame;
    int rc = 1;

    for (uint32_t at = 0; capture->png && rc == 1 && at < head;
         at += block.len + PCAPNG_BLOCK_LEAST)
        rc = next_block(capture, &block, &frame, err);
    if (rc < 0 || from <= head)
        return rc < 0 ? rc : 0;
    if (capture->png)
        pcapng_jump(capture->png, from);
    capture->since = from;
    capture->left_out = from - head;
    capture->frames = 0;
    capture->skipped = 0;
    return 0;
}

struct pcapng *capture_pcapng(const struct capture *capture)
{
    return capture->png;
}

int capture_next(struct capture *capture, struct frame *frame, struct err *err)
{
    struct pcap_pkthdr *header;
    struct pcapng_block block;
    const u_char *data;
    int result;

    if (capture->png) {
        do
            result = next_block(capture, &block, frame, err);
        while (result == 1 && !block.is_packet);
        return result;
    }
    result = pcap_next_ex(capture->pcap, &header, &data);
    if (result == PCAP_ERROR_BREAK) /* the end, as libpcap sees it */
        return capture->input_error.code ? broken(capture, err) : 0;
    if (result != 1)
        return broken(capture, err);
    frame->number = ++capture->frames;
    /* seconds have 32 bits in the file, and libpcap takes them for signed ones */
    frame->time = (int64_t)(uint32_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
    frame->skipped = 0;
    frame->data = data;
    frame->cap_len = header->caplen;
    frame->wire_len = header->len > header->caplen ? header->len : header->caplen;
    frame->link_type = capture->link_type;
    return 1;
}
