// Threads make so many comparisons concurrently that the table of comparisons is full. To be built with -O0: the optimiser needs
// minutes to convert them to a few switches, which have too few records to fill the table.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static volatile int sink;
#define C1(n) if (v == (n)*2654435761u) sink++;
#define C8(n) C1(n) C1(n + 1) C1(n + 2) C1(n + 3) C1(n + 4) C1(n + 5) C1(n + 6) C1(n + 7)
#define C64(n) C8(n) C8(n + 8) C8(n + 16) C8(n + 24) C8(n + 32) C8(n + 40) C8(n + 48) C8(n + 56)
#define C512(n) C64(n) C64(n + 64) C64(n + 128) C64(n + 192) C64(n + 256) C64(n + 320) C64(n + 384) C64(n + 448)

static void *compare(void *p) {
	for (uint32_t i = 0; i < 30; i++) {
		uint32_t v = *(uint32_t *)p + i;
		C512(1) C512(1001) C512(2001) C512(3001)
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	uint32_t v = n ? d[0] : 0;
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(t + i, 0, compare, &v);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
