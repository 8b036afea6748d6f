// The judgement of package guests/verdict in C: it finds three values of the
// request and copies them into a verdict. Unlike the Go guest it decodes
// nothing else, and does not validate the request.
#pragma once
#include <stdint.h>
#include <string.h>

typedef struct { const uint8_t *at, *end; } span;

static uint32_t be(const uint8_t *p, int n) {
	uint32_t v = 0;
	for (int i = 0; i < n; i++) v = v << 8 | p[i];
	return v;
}

// skip gives the end of the msgpack value at p.
static const uint8_t *skip(const uint8_t *p) {
	uint8_t b = *p++;
	uint32_t children = 0;
	if (b < 0x80 || b >= 0xe0 || b == 0xc0 || b == 0xc2 || b == 0xc3) return p;
	if (b < 0x90) children = 2 * (b & 15);
	else if (b < 0xa0) children = b & 15;
	else if (b < 0xc0) return p + (b & 31);
	else switch (b) {
		case 0xc4: case 0xd9: return p + 1 + be(p, 1);
		case 0xc5: case 0xda: return p + 2 + be(p, 2);
		case 0xc6: case 0xdb: return p + 4 + be(p, 4);
		case 0xcc: case 0xd0: return p + 1;
		case 0xcd: case 0xd1: return p + 2;
		case 0xca: case 0xce: case 0xd2: return p + 4;
		case 0xcb: case 0xcf: case 0xd3: return p + 8;
		case 0xdc: children = be(p, 2); p += 2; break;
		case 0xdd: children = be(p, 4); p += 4; break;
		case 0xde: children = 2 * be(p, 2); p += 2; break;
		case 0xdf: children = 2 * be(p, 4); p += 4; break;
		default: __builtin_trap();
	}
	while (children--) p = skip(p);
	return p;
}

// field gives the value of a key, shorter than 32 bytes, of the map at p.
static span field(const uint8_t *p, const char *key) {
	uint32_t pairs, n = strlen(key);
	if ((*p & 0xf0) == 0x80) pairs = *p++ & 15;
	else if (*p == 0xde) pairs = be(p + 1, 2), p += 3;
	else __builtin_trap();
	while (pairs--) {
		const uint8_t *k = p, *v = skip(p), *end = skip(v);
		if (*k == (0xa0 | n) && !memcmp(k + 1, key, n)) return (span){v, end};
		p = end;
	}
	__builtin_trap();
}

static uint8_t *put(uint8_t *to, span s) {
	memcpy(to, s.at, s.end - s.at);
	return to + (s.end - s.at);
}

static uint8_t *key(uint8_t *to, const char *k) {
	uint32_t n = strlen(k);
	*to++ = 0xa0 | n;
	memcpy(to, k, n);
	return to + n;
}

// affirm writes the response to a request and gives its length.
static uint32_t affirm(const uint8_t *request, uint8_t *response) {
	const uint8_t *indictment = field(request, "indictment").at;
	uint8_t *to = response;
	*to++ = 0x81, to = key(to, "artifact");
	*to++ = 0x81, to = key(to, "verdict");
	*to++ = 0x84, to = key(to, "decision"), to = key(to, "affirm");
	to = key(to, "final_classification"), to = put(to, field(indictment, "charged_defect_type"));
	to = key(to, "confidence"), to = put(to, field(indictment, "confidence"));
	to = key(to, "reasoning"), to = put(to, field(indictment, "prosecution_narrative"));
	return to - response;
}
