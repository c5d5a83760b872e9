// Leaks of a harness, as libFuzzer looks for them: a run that has allocated more than it has freed is repeated, and then
// LeakSanitizer is asked, which takes milliseconds. A program with a main may leave the freeing to its end.

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
// Of AddressSanitizer's own, the same since LLVM 3.8: how much of the stack is kept with each block. That is nothing while we
// fuzz, for it takes time, and of blocks without a stack leaks are not told.
void _ZN6__asan20SetMallocContextSizeEj(unsigned n) __attribute__((weak));

enum {
	LEAK_LOOKS = 1000, // in vain, of a server and all its children, before it is left: the harness keeps what it allocates
	LEAK_FRAMES = 30,
	EXIT_LEAK = 23, // as LSAN_OPTIONS has it
};

static int64_t blocks;  // allocated and not freed in the run under way
static int leaks_wanted;

static void teasel_allocated(const volatile void *p, size_t n) {
	(void)p;
	if (n > AT.malloc_limit && AT.malloc_limit && running && !sampling) {
		running = 0; // what is allocated while it is reported is not the target's
		teasel_allocation_report(AT.first_fd + FD_REPORT, n);
		abort();
	}
	__atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
}

static void freed(const volatile void *p) {
	if (p) __atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
}

static int allocations_watched;

static void allocations_watch(void) {
	allocations_watched = __sanitizer_install_malloc_and_free_hooks && __sanitizer_install_malloc_and_free_hooks(teasel_allocated, freed);
}

static void leaks_stacks(unsigned frames) {
	if (_ZN6__asan20SetMallocContextSizeEj) _ZN6__asan20SetMallocContextSizeEj(frames);
}

// A thread that still runs has its stack, and whatever only that points to.
static int leaks_suspected(void) { return blocks > 0 && leaks_wanted && AT.state->leak_looks < LEAK_LOOKS && thread_count() == 1; }

// leaks_look repeats a run and ends the process if that leaks.
static void leaks_look(const uint8_t *in, size_t n) {
	__atomic_store_n(&AT.results->looking, 1, __ATOMIC_RELAXED);
	leaks_stacks(LEAK_FRAMES);
	teasel_harness(in, n);
	exit_if_forked();
	leaks_stacks(0);
	counters_clear();
	if (__lsan_do_recoverable_leak_check()) _exit(EXIT_LEAK);
	__atomic_store_n(&AT.results->looking, 0, __ATOMIC_RELAXED);
	AT.state->leak_looks++;
}

// leaks_begin tries in a child whether LeakSanitizer works: it stops the process to look at it, which not every container
// allows, and ends it if it cannot.
static void leaks_begin(void) {
	if (!__lsan_do_recoverable_leak_check || !allocations_watched) return;
	pid_t p = fork();
	if (p == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		__lsan_do_recoverable_leak_check();
		_exit(0); // what it has found is the start's
	}
	int status = 0;
	while (p > 0 && waitpid(p, &status, 0) < 0 && errno == EINTR) {
	}
	leaks_wanted = p > 0 && status == 0;
}
