// Bit fields as in headers, some across bytes or inverted.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 8) return 0;
	uint32_t word = (uint32_t)data[1] << 24 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 8 | data[4];
	uint32_t kind = word >> 19 & 0x1fff, length = (word & 0x7ffff) >> 3;
	if (kind != 0x1234) return 0;
	if (length != 48611) return 0;
	uint16_t check = (uint16_t)(data[5] << 8 | data[6]) ^ 0xa5c3;
	check = (uint16_t)(check << 5 | check >> 11);
	if (check == 12345) __builtin_trap();
	return 0;
}
