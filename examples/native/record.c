// A record is "REC1", the length of a name, and the name.
#include "record.h"

#include <stdlib.h>
#include <string.h>

int name_length(const uint8_t *data, size_t size) {
	if (size < 5 || memcmp(data, "REC1", 4) != 0) return -1;
	size_t length = data[4];
	if (length > size - 5) return -1;
#ifdef MENDED
	char *name = malloc(length + 1);
#else
	char *name = malloc(16); // the bug: a name may be longer
#endif
	if (!name) return -1;
	memcpy(name, data + 5, length);
	int n = (int)strnlen(name, length);
	free(name);
	return n;
}
