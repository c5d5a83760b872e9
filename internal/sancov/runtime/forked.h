// Processes that the target forks. A fault in one of them is the target's, whatever the target makes of how the process has ended.

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static int in_forked; // this is such a process

// forked_mark says that such a process has died of a fault. A target that overwrites the shared memory does not know it.
static uint32_t forked_mark(void) { return (uint32_t)SHARED.nonce | 1; }

static void forked_died(void) { SHARED.results->forked = forked_mark(); }

static inline int forked_has_died(void) { return SHARED.results->forked == forked_mark(); }

// forked_faults reports whether a signal is a fault in such a process, and not one that was sent, and notes that.
static int forked_faults(int signal, const siginfo_t *info) {
	if (!in_forked || info->si_code <= 0 || (signal != SIGSEGV && signal != SIGBUS && signal != SIGFPE && signal != SIGILL)) return 0;
	forked_died();
	return 1;
}

// report_begin has a sanitizer write its report where teasel reads it. A sanitizer closes the file that another process has set and writes
// to the working directory, so that each process must set it again.
static void report_begin(void) {
	if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)(SHARED.first_fd + FD_REPORT));
}

// forked_begin is called in each process that the target forks.
static void forked_begin(void) {
	in_forked = 1;
	report_begin();
	if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(forked_died);
}

_Noreturn void __real__exit(int code);

// end_if_forked_died ends this process after a run in which one that it has forked has died.
static inline void end_if_forked_died(void) {
	if (forked_has_died()) __real__exit(0);
}
