// Numbers that are scaled, added and subtracted before they are compared, one after another.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint32_t a, b, c;
	uint16_t d, e;
	if (size < 16) return 0;
	memcpy(&a, data, 4);
	memcpy(&b, data + 4, 4);
	memcpy(&c, data + 8, 4);
	memcpy(&d, data + 12, 2);
	memcpy(&e, data + 14, 2);
	if (a + b != 3735928559u) return 0;
	if ((uint64_t)c * 24 + 17 != 61728395033u) return 0;
	if ((uint32_t)(d * 2654435761u) != 3793484351u) return 0;
	if (e - (data[0] << 3) == 11213) __builtin_trap();
	return 0;
}
