// Branches that depend on the length of the input, and a record whose count must match it.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 4) return 0;
	size_t count = (size_t)(data[0] | data[1] << 8);
	if (size * 5 - 20 != 4485) return 0;
	if (count * 12 > size * 800 && (count & 1)) __builtin_trap();
	return 0;
}
