// A case-insensitive word, followed by a word of a fixed length.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char text[64] = {0};
	memcpy(text, data, size < 63 ? size : 63);
	if (strcasecmp(text, "Content-Type") == 0) return 0;
	if (strncasecmp(text, "Authorization", 13)) return 0;
	if (strncmp(text + 13, ": Digest", 8) == 0) __builtin_trap();
	return 0;
}
