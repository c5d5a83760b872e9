// A length, data with a number in it, and the Adler-32 checksum of the data, all big endian.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t adler(const uint8_t *p, size_t n) {
	uint32_t a = 1, b = 0;
	while (n--) {
		a = (a + *p++) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 16 || size > 4096) return 0;
	size_t n = (size_t)data[0] << 8 | data[1];
	if (n != size - 6) return 0;
	const uint8_t *end = data + 2 + n;
	uint32_t sum = (uint32_t)end[0] << 24 | (uint32_t)end[1] << 16 | (uint32_t)end[2] << 8 | end[3], magic;
	if (sum != adler(data + 2, n)) return 0;
	memcpy(&magic, data + 4, 4);
	if (magic == 0x600dcafe) __builtin_trap();
	return 0;
}
