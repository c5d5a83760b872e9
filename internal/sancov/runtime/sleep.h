// A server under test that lets time pass, for example before it says that a password was wrong, does nothing meanwhile. So these
// functions of the C library cut what it sleeps. Waiting for a descriptor or a lock with a time limit stays as it is.

enum {
	SLEEP_PART = 64,                // of the time that was asked for, within these bounds
	SLEEP_LEAST = 1 * 1000 * 1000,  // nanoseconds: a server that polls does not become a busy loop
	SLEEP_MOST = 20 * 1000 * 1000,
	SLEEP_CUTS = 16,                // so often in a thread beside others: one that only keeps the pace of something goes on as it was meant to
};

static int sleep_cut_wanted; // this is a server, and the user has not asked for its own times

static __thread uint32_t sleep_cuts; // of this thread

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
	int e = clock_nanosleep(CLOCK_REALTIME, 0, t ? &cut : 0, left); // which is what the library's does
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
