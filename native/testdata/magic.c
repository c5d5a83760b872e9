// One magic number.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint64_t magic;
	if (size < 16) return 0;
	memcpy(&magic, data + 3, 8);
	if (magic == 0x7465617365216c31) __builtin_trap();
	return 0;
}
