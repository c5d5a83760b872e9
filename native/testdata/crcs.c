// Chunks as in PNG: a length, a name, content, and a CRC of name and content, big endian; the second chunk must be of another kind.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t crc32(const uint8_t *p, size_t n) {
	uint32_t c = ~0u;
	while (n--) {
		c ^= *p++;
		for (int i = 0; i < 8; i++) c = c >> 1 ^ (0xedb88320 & -(c & 1));
	}
	return ~c;
}

static uint32_t big(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	for (int k = 0; k < 2; k++) {
		if (size < 12) return 0;
		uint32_t n = big(data);
		if (n > size - 12) return 0;
		if (big(data + 8 + n) != crc32(data + 4, n + 4)) return 0;
		if (big(data + 4) != (k ? 0x49444154 : 0x49484452)) return 0;
		data += 12 + n;
		size -= 12 + n;
	}
	__builtin_trap();
}
