/* SPDX-License-Identifier: MIT
 *
 * sha256.c - Owns: SHA-256 of a short text. Threads: any. Never: keeps a secret; it is not written for that.
 */
#include "sha256.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 8, ROUNDS = 64, LENGTH_BYTES = 8, HASH_BYTES = 32 };

static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void take_block(uint32_t hash[static WORDS], const unsigned char *block)
{
    uint32_t w[ROUNDS], s[WORDS];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < ROUNDS; i++)
        w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, hash, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                             ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        const uint32_t two =
            (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < WORDS; i++)
        hash[i] += s[i];
}

static void put_base64(const unsigned char *bytes, size_t n, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3, to += 4) {
        const uint32_t group =
            (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            to[k] = i + (size_t)k > n ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    *to = 0;
}

void pt_sha256_base64(const void *bytes, size_t n, char ret_text[static PT_SHA256_BASE64_SIZE])
{
    uint32_t hash[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char tail[2 * BLOCK] = {0}, result[HASH_BYTES];
    const size_t whole = n / BLOCK * BLOCK, rest = n - whole;
    for (size_t at = 0; at < whole; at += BLOCK)
        take_block(hash, (const unsigned char *)bytes + at);
    if (rest)
        memcpy(tail, (const unsigned char *)bytes + whole, rest);
    tail[rest] = 0x80;
    const size_t end = rest + 1 + LENGTH_BYTES > BLOCK ? 2 * BLOCK : BLOCK;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        tail[end - 1 - i] = (unsigned char)((uint64_t)n * 8 >> (8 * i));
    for (size_t at = 0; at < end; at += BLOCK)
        take_block(hash, tail + at);
    for (size_t i = 0; i < HASH_BYTES; i++)
        result[i] = (unsigned char)(hash[i / 4] >> (24 - 8 * (i % 4)));
    put_base64(result, HASH_BYTES, ret_text);
}
