#include <stddef.h>
#include <stdint.h>

// name_length parses a record and returns the length of the name in it, or -1 if it is none.
int name_length(const uint8_t *data, size_t size);
