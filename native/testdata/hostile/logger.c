// A careful logger writes much to standard error, and takes a write that fails for fatal.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	(void)d, (void)n;
	for (int i = 0; i < 300; i++)
		if (fputc('.', stderr) == EOF) abort();
	return 0;
}
