// The least that a persistent target with inputs in shared memory can do: look at four bytes.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *b, size_t n) {
	static volatile int depth;
	if (n < 4) return 0;
	if (b[0] == 'l') {
		depth = 1;
		if (b[1] == 'o') {
			depth = 2;
			if (b[2] == 'o') {
				depth = 3;
				if (b[3] == 'p') depth = 4;
			}
		}
	}
	return 0;
}
