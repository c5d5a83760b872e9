// A size from the input is asked for, and hardly any of it used.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	uint64_t size;
	if (n < 9 || d[0] != 'M') return 0;
	memcpy(&size, d + 1, sizeof size);
	size = size / ((uint64_t)3 << 30) % 5 * ((uint64_t)3 << 30); // less would be allowed, and takes the sanitizer a second
	volatile char *p = malloc(size);
	if (p && size) *p = 1;
	free((void *)p);
	return 0;
}
