// A harness for compressed inputs with libFuzzer's example of a custom mutator, which decompresses, mutates and compresses. Only that
// mutator reaches the code after the magic string. MUTATOR: 1 has the mutator, 2 also a crossover, 3 crashes sometimes, 4 hangs,
// 5 makes mutants that are too long; 0 has none.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t plain[128];
	uLongf n = sizeof plain;
	if (uncompress(plain, &n, data, size) != Z_OK || n < 6) return 0;
	if (memcmp(plain, "FU", 2)) return 0;
	if (memcmp(plain + 2, "ZZ", 2)) return 0;
	if (plain[4] > 200 && plain[5] < 20) __builtin_trap();
	return 0;
}

#if MUTATOR
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static size_t pack(const uint8_t *plain, size_t n, uint8_t *out, size_t most) {
	uLongf size = most;
	return compress(out, &size, plain, n) == Z_OK ? size : 0;
}

static size_t unpack(const uint8_t *data, size_t size, uint8_t plain[128]) {
	uLongf n = 128;
	if (uncompress(plain, &n, data, size) == Z_OK) return n;
	memcpy(plain, "Hi", 2);
	return 2;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
	uint8_t plain[128];
	size_t n = LLVMFuzzerMutate(plain, unpack(data, size, plain), sizeof plain);
	if (MUTATOR == 3 && seed % 100 == 0) *(volatile int *)8 = 1;
	for (volatile int forever = MUTATOR == 4 && seed % 100 == 0; forever;) {
	}
	if (MUTATOR == 5 && seed % 100 == 0) return most + 1;
	return pack(plain, n, data, most);
}
#endif

#if MUTATOR == 2
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t most, unsigned seed) {
	uint8_t plain[256];
	size_t n = unpack(a, an, plain), cut = n ? seed % n : 0;
	n = cut + unpack(b, bn, plain + cut);
	return pack(plain, n < 128 ? n : 128, out, most);
}
#endif
