// A server under test may sleep on purpose, for example before it rejects a password. The following replacements of C library
// functions shorten such sleeps. Waiting for a descriptor or a lock with a timeout is not changed.

enum {
	SLEEP_PART = 64,                // sleeps are divided by this, within the following bounds
	SLEEP_LEAST = 1 * 1000 * 1000,  // nanoseconds: a polling loop must not become a busy loop
	SLEEP_MOST = 20 * 1000 * 1000,
	SLEEP_CUTS = 16,                // sleeps shortened per thread if there are several threads: a periodic thread then keeps its pace
};

static int sleep_cut_wanted; // not 0: the program is a server and TEASEL_KEEP_SLEEP is not set

static __thread uint32_t sleep_cuts; // sleeps shortened in this thread

static struct timespec sleep_cut(struct timespec t) {
	if (!sleep_cut_wanted || t.tv_sec < 0 || (thread_count() > 1 && sleep_cuts >= SLEEP_CUTS)) return t;
	const int64_t second = 1000 * 1000 * 1000, longest = (int64_t)SLEEP_MOST * SLEEP_PART / second + 1;
	int64_t asked = (t.tv_sec < longest ? t.tv_sec : longest) * second + t.tv_nsec, cut = asked / SLEEP_PART;
	if (asked <= SLEEP_LEAST) return t;
	sleep_cuts++;
	cut = cut < SLEEP_LEAST ? SLEEP_LEAST : cut > SLEEP_MOST ? SLEEP_MOST : cut;
	return (struct timespec){.tv_nsec = (long)cut};
}

#define SLEEP __attribute__((weak, visibility("default"))) // a program may have a function of its own with that name

SLEEP int nanosleep(const struct timespec *t, struct timespec *left) {
	struct timespec cut = t ? sleep_cut(*t) : (struct timespec){0};
	int e = clock_nanosleep(CLOCK_REALTIME, 0, t ? &cut : 0, left); // as the C library's nanosleep does
	if (!e) return 0;
	errno = e;
	return -1;
}

SLEEP int usleep(useconds_t n) {
	struct timespec t = {.tv_sec = n / 1000000, .tv_nsec = (long)(n % 1000000) * 1000};
	return nanosleep(&t, 0);
}

SLEEP unsigned sleep(unsigned n) {
	struct timespec t = {.tv_sec = n}, left = {0};
	int before = errno;
	if (nanosleep(&t, &left) == 0) {
		errno = before;
		return 0;
	}
	return (unsigned)left.tv_sec + (left.tv_nsec >= 500 * 1000 * 1000);
}
