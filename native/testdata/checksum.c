// A checksum of the rest of the input, followed by magic numbers: changing one of them invalidates the checksum.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint32_t sum, magic;
	uint16_t kind;
	if (size < 12) return 0;
	memcpy(&sum, data, 4);
	if (sum != crc32(data + 4, size - 4)) return 0;
	memcpy(&magic, data + 4, 4);
	if (magic != 0xfeedc0de) return 0;
	memcpy(&kind, data + 8, 2);
	if (kind == 0x1234) __builtin_trap();
	return 0;
}
