// Decodes a picture to red, green, blue and opacity.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

unsigned char *stbi_load_from_memory(const unsigned char *data, int size, int *width, int *height, int *channels, int wanted);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	int width, height, channels;
	free(stbi_load_from_memory(data, (int)size, &width, &height, &channels, 4));
	return 0;
}
