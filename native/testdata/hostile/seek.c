// Seeks standard error far beyond the written text.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 2 || d[0] != 'Q') return 0;
	lseek(2, 1LL << 46, SEEK_SET);
	abort();
}
