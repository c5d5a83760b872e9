// Allocates a size from the input and uses hardly any of it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	uint64_t size;
	if (n < 9 || d[0] != 'M') return 0;
	memcpy(&size, d + 1, sizeof size);
	size = size >> 31 & 1 ? (uint64_t)5 << 29 : 0; // the sanitizer takes a second for much more, and less is allowed
	volatile char *p = malloc(size);
	if (p && size) *p = 1;
	free((void *)p);
	return 0;
}
