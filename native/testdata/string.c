// A string of twelve characters.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char text[32] = {0};
	memcpy(text, data, size < 31 ? size : 31);
	if (strcmp(text, "open, sesame") == 0) __builtin_trap();
	return 0;
}
