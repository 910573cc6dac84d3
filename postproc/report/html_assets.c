/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/embed.h"
#include "report/html_parts.h"

#include <gcrypt.h>

EMBED(css, EMBED_ROOT "/postproc/report/html.css");
EMBED(js, EMBED_ROOT "/postproc/report/html.js");
EMBED(trace_css, EMBED_ROOT "/postproc/report/trace.css");
EMBED(trace_js, EMBED_ROOT "/postproc/report/trace.js");
const char *const html_style = css, *const html_script = js;
const char *const html_trace_style = trace_css, *const html_trace_script = trace_js;

/* RFC 4648 s4, of 32 bytes. */
static void base64(const uint8_t digest[32], char text[45])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = text;

    for (int i = 0; i < 33; i += 3) {
        uint32_t three = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
                         (i + 2 < 32 ? digest[i + 2] : 0);

        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = letters[three >> shift & 63];
    }
    text[43] = '=';
    text[44] = '\0';
}

const char *html_policy(const char *script, char text[HTML_POLICY_MAX])
{
    uint8_t digest[32];
    char letters[45];

    /* as engine/anon/cipher.c: who has finished libgcrypt's initialisation is not to be disturbed
     */
    if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
    gcry_md_hash_buffer(GCRY_MD_SHA256, digest, script, strlen(script));
    base64(digest, letters);
    snprintf(text, HTML_POLICY_MAX, "'sha256-%s'", letters);
    return text;
}
