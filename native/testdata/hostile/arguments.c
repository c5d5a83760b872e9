// MemorySanitizer keeps the state of arguments in thread-local memory. Instrumented callers write it; the runtime, which is not
// instrumented, leaves the state of the previous call there. Each function here ends with a call with uninitialised arguments, which
// is not a fault since nothing depends on them, and begins with branches on its own arguments.
#include <stddef.h>
#include <stdint.h>

static volatile int sink;

__attribute__((noinline)) void take(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g) {
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void pass_uninitialised(void) {
	volatile uint64_t v[7];
	take(v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
}

// construct is for the first call in every process.
__attribute__((constructor)) static void construct(void) { pass_uninitialised(); }

#ifdef INITIALIZE
int LLVMFuzzerInitialize(int *argc, char ***argv) {
	if (argc) sink++;
	if (argv) sink++;
	return 0;
}
#endif

#ifdef MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
	if (data) sink++;
	if (size) data[0]++;
	if (most > size) data[size++] = 'm';
	if (seed % 2) sink++;
	pass_uninitialised();
	return size;
}
#endif

#ifdef CROSSOVER
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t most, unsigned seed) {
	size_t n = 0;
	if (a && an && n < most) out[n++] = a[0];
	if (b && bn && n < most) out[n++] = b[0];
	if (seed % 2 && out) sink++;
	pass_uninitialised();
	return n;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'x') sink++;
	if (n && d[0] == 'y') sink++;
	pass_uninitialised();
	return 0;
}
