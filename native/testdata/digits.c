// Numbers in decimal text, which are used in computations before they are compared.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char text[64] = {0};
	memcpy(text, data, size < 63 ? size : 63);
	char *end;
	long width = strtol(text, &end, 10);
	if (width * 3 + 1 != 370369) return 0;
	if (*end != ',') return 0;
	if (strtol(end + 1, &end, 10) * width != 123456l * 776) return 0;
	if (*end == '#' && strtoul(end + 1, 0, 16) + 5 == 0x7ac3b1) __builtin_trap();
	return 0;
}
