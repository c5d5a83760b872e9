// The work is done by a thread that was started before the first input, by a constructor or by LLVMFuzzerInitialize.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static const uint8_t *job;
static size_t size;
static int waiting, ready, started;

static void *work(void *unused) {
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!waiting) pthread_cond_wait(&wanted, &lock);
		if (size == 4 && !memcmp(job, "oops", 4)) abort();
		waiting = 0, ready = 1;
		pthread_cond_signal(&done);
	}
	return unused;
}

static void start(void) {
	pthread_t t;
	if (!started++) pthread_create(&t, 0, work, 0);
}

#ifdef EARLY
__attribute__((constructor)) static void begin(void) { start(); }
#else
int LLVMFuzzerInitialize(int *argc, char ***argv) { (void)argc, (void)argv; start(); return 0; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	pthread_mutex_lock(&lock);
	job = d, size = n, waiting = 1, ready = 0;
	pthread_cond_signal(&wanted);
	while (!ready) pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}
