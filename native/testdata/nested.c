// Magic numbers of several widths and byte orders, one after another, followed by a string.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint64_t first;
	uint16_t third;
	if (size < 24) return 0;
	memcpy(&first, data, 8);
	if (first != 0x1badb002cafef00d) return 0;
	uint32_t second = (uint32_t)data[8] << 24 | (uint32_t)data[9] << 16 | (uint32_t)data[10] << 8 | data[11];
	if (second != 0x89504e47) return 0;
	memcpy(&third, data + 12, 2);
	if (third != 0x5a4d) return 0;
	if (memcmp(data + 14, "teasel", 6) == 0) __builtin_trap();
	return 0;
}
