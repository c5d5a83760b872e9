// Additive checksums: of bytes, with 16 bits, over a header with a number.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint32_t sum = 0;
	uint16_t want, kind;
	if (size < 20) return 0;
	for (size_t i = 2; i < 20; i++) sum += (uint32_t)data[i] * 3 + 7;
	memcpy(&want, data, 2);
	if (want != (uint16_t)sum) return 0;
	memcpy(&kind, data + 6, 2);
	if (kind != 0xd00d) return 0;
	if (memcmp(data + 10, "head", 4) == 0) __builtin_trap();
	return 0;
}
