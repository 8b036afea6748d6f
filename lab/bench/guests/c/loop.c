// What guests/loop does: counts primes at "sieve", waits at "wait".
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "verdict.h"

#define LIMIT 1000000
static uint8_t composite[LIMIT];

static int primes(void) {
	memset(composite, 0, LIMIT);
	int count = 0;
	for (int i = 2; i < LIMIT; i++) {
		if (composite[i]) continue;
		count++;
		for (int j = 2 * i; j < LIMIT; j += i) composite[j] = 1;
	}
	return count;
}

__attribute__((export_name("shadowcourt_alloc"))) uint8_t *shadowcourt_alloc(uint32_t size) {
	return malloc(size ? size : 1);
}

static uint8_t *number(uint8_t *to, int n) {
	char digits[12];
	int length = 0;
	for (; n; n /= 10) digits[length++] = '0' + n % 10;
	*to++ = 0xa0 | length;
	while (length) *to++ = digits[--length];
	return to;
}

__attribute__((export_name("shadowcourt_node"))) uint64_t shadowcourt_node(uint8_t *request, uint32_t size) {
	static uint8_t response[1024];
	const uint8_t *node = field(request, "node").at;
	uint32_t length;
	if (!memcmp(node, "\xa4wait", 5))
		for (;;) {
			struct timespec now;
			clock_gettime(CLOCK_REALTIME, &now);
		}
	if (!memcmp(node, "\xa5sieve", 6)) {
		uint8_t *to = response;
		*to++ = 0x81, to = key(to, "failure");
		*to++ = 0x82, to = key(to, "code"), to = key(to, "primes");
		to = key(to, "message"), to = number(to, primes());
		length = to - response;
	} else length = affirm(request, response);
	free(request);
	return (uint64_t)(uintptr_t)response << 32 | length;
}
