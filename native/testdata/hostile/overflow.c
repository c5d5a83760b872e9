// Fills a large block with a width from the input, unchecked: the write continues into the mappings that follow the block.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 3 || d[0] != 'I') return 0;
	uint8_t *block = malloc(8u << 20);
	memset(block, 0x41, (size_t)d[1] << 16 | (size_t)d[2] << 8); // up to 16 MiB
	__asm__ volatile("" ::"r"(block) : "memory");
	free(block);
	return 0;
}
