// What goes over the limits of time and memory: each in functions that say where. Built with -DMAIN it reads standard input.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

// Two threads that take two locks, the second in another order than the first if inverse is set.
static int inverse;

ALONE static void *take_ab(void *unused) {
	pthread_mutex_lock(&a);
	if (inverse) pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return unused;
}

ALONE static void *take_ba(void *unused) {
	pthread_mutex_lock(&b);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return unused;
}

ALONE static void *await_signal(void *unused) {
	pthread_mutex_lock(&a);
	pthread_cond_wait(&done, &a);
	pthread_mutex_unlock(&a);
	return unused;
}

ALONE static void *spin(void *unused) {
	for (volatile int i = 0;; i++) {
	}
	return unused;
}

ALONE static void join_both(void *(*first)(void *), void *(*second)(void *)) {
	pthread_t t, u;
	pthread_barrier_init(&both, 0, 2);
	if (pthread_create(&t, 0, first, 0) || pthread_create(&u, 0, second, 0)) abort();
	pthread_join(t, 0);
	pthread_join(u, 0);
}

ALONE static void lock_twice(void) {
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&a);
}

static char *volatile kept;

ALONE static void hold_many(void) {
	for (size_t i = 0; i < 4096; i++)
		if ((kept = malloc(1 << 20))) memset(kept, 1, 1 << 20);
}

ALONE static void hold_mapped(void) {
	kept = mmap(0, (size_t)4 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (kept != MAP_FAILED) memset(kept, 1, (size_t)4 << 30);
}

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 1) return 0;
	inverse = d[0] == 'i';
	if (d[0] == 'i') join_both(take_ab, take_ba);
	if (d[0] == 'o') join_both(take_ab, take_ab);
	if (d[0] == 'c') join_both(await_signal, await_signal);
	if (d[0] == 's') join_both(take_ab, spin);
	if (d[0] == 't') lock_twice();
	if (d[0] == 'm') hold_many();
	if (d[0] == 'M') hold_mapped();
	return 0;
}

#ifdef MAIN
int main(void) {
	uint8_t in[16];
	ssize_t n = read(0, in, sizeof in);
	return n > 0 ? LLVMFuzzerTestOneInput(in, (size_t)n) : 0;
}
#endif
