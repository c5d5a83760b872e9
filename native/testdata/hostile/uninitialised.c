// Passes uninitialised memory on, but nothing depends on it; the arguments of the mutator are initialised.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

size_t LLVMFuzzerMutate(uint8_t *, size_t, size_t);

__attribute__((noinline)) static void take(uint64_t a, uint64_t b) { (void)a, (void)b; __asm__ volatile("" ::: "memory"); }

#ifdef MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
	uint8_t plain[1024];
	size_t n = size < 512 ? size : 512;
	(void)seed;
	for (size_t i = 0; i < n; i++) plain[i] = data[i] ^ 0x55;
	n = LLVMFuzzerMutate(plain, n, sizeof plain);
	if (n > most) n = most;
	for (size_t i = 0; i < n; i++) data[i] = (plain[i] ? plain[i] : 1) ^ 0x55;
	return n;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	int r = n && d[0] == 'x' ? 2 : 3;
	volatile uint64_t *v = malloc(16);
	take(v[0], v[1]);
	free((void *)v);
	return r == 7;
}
