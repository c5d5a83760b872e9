// Closes, or writes to, all descriptors.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 4 && !memcmp(d, "clos", 4))
		for (int i = 0; i < 1024; i++) close(i);
	if (n > 4 && !memcmp(d, "garb", 4))
		for (int i = 190; i < 220; i++) // other descriptors may be inherited pipes that are never read
			if (write(i, d, n)) continue;
	if (n > 4 && !memcmp(d, "BUGS", 4)) abort();
	return 0;
}
