// The judge over the direct binding.
#include <stdlib.h>
#include "verdict.h"

__attribute__((export_name("shadowcourt_alloc"))) uint8_t *shadowcourt_alloc(uint32_t size) {
	return malloc(size ? size : 1);
}

__attribute__((export_name("shadowcourt_node"))) uint64_t shadowcourt_node(uint8_t *request, uint32_t size) {
	uint8_t *response = malloc(size + 128);
	uint32_t length = affirm(request, response);
	free(request);
	static uint8_t *last; // stays until the next call
	free(last);
	last = response;
	return (uint64_t)(uintptr_t)response << 32 | length;
}
