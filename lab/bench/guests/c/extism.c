// The judge over Extism's kernel, whose functions are imported as a PDK does.
#include <stdlib.h>
#include "verdict.h"

#define KERNEL(name) __attribute__((import_module("extism:host/env"), import_name(#name))) extern
KERNEL(input_length) uint64_t input_length(void);
KERNEL(input_load_u8) uint8_t input_load_u8(uint64_t);
KERNEL(input_load_u64) uint64_t input_load_u64(uint64_t);
KERNEL(alloc) uint64_t extism_alloc(uint64_t);
KERNEL(store_u8) void store_u8(uint64_t, uint8_t);
KERNEL(store_u64) void store_u64(uint64_t, uint64_t);
KERNEL(output_set) void output_set(uint64_t, uint64_t);

__attribute__((export_name("bench_node"))) int32_t bench_node(void) {
	uint64_t size = input_length(), i;
	uint8_t *request = malloc(size), *response = malloc(size + 128);
	for (i = 0; i + 8 <= size; i += 8) {
		uint64_t v = input_load_u64(i);
		memcpy(request + i, &v, 8);
	}
	for (; i < size; i++) request[i] = input_load_u8(i);
	uint64_t length = affirm(request, response), at = extism_alloc(length);
	for (i = 0; i + 8 <= length; i += 8) {
		uint64_t v;
		memcpy(&v, response + i, 8);
		store_u64(at + i, v);
	}
	for (; i < length; i++) store_u8(at + i, response[i]);
	output_set(at, length);
	free(request);
	free(response);
	return 0;
}
