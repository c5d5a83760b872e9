// Big endian magic numbers of eight bytes, the second of which depends on the first, and a string of 24 characters.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t big(const uint8_t *p) {
	uint64_t n = 0;
	for (int i = 0; i < 8; i++) n = n << 8 | p[i];
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 40) return 0;
	if (big(data) != 0x89504e470d0a1a0a) return 0;
	if (big(data + 8) != big(data) + 0x1111111111111111) return 0;
	if (memcmp(data + 16, "a text of 24 characters.", 24) == 0) __builtin_trap();
	return 0;
}
