// Detached threads, which have memory of their own.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *doze(void *unused) { for (;;) usleep(1000); return unused; }

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 3 && d[0] == 'd' && d[1] == 't') {
		pthread_t t;
		if (!pthread_create(&t, 0, doze, 0)) pthread_detach(t);
	}
	if (n > 4 && !memcmp(d, "boom", 4)) abort();
	return 0;
}
