// Detection of leaks in a harness, as in libFuzzer: a run that has allocated more blocks than it has freed is repeated, followed
// by a check of LeakSanitizer, which takes milliseconds. Programs with a main are not checked, since they may leave memory to be
// freed by their exit.

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
// An internal function of AddressSanitizer, unchanged since LLVM 3.8, that sets how many frames are kept with each block. No frames
// are kept while fuzzing, since unwinding takes time; leaks of blocks without a stack are not reported.
void _ZN6__asan20SetMallocContextSizeEj(unsigned n) __attribute__((weak));

enum {
	MAX_LEAK_CHECKS = 1000, // checks without a leak, by all children of a server, after which no more are made: the harness keeps its memory in use
	LEAK_FRAMES = 30,
	EXIT_LEAK = 23, // the exitcode in LSAN_OPTIONS
};

static int64_t blocks; // allocated and not freed in the current run
static int leaks_enabled;

static void teasel_allocated(const volatile void *p, size_t n) {
	(void)p;
	if (n > SHARED.malloc_limit && SHARED.malloc_limit && running && !sampling) {
		running = 0; // allocations during the report are not the target's
		teasel_allocation_report(SHARED.first_fd + FD_REPORT, n);
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

static void allocation_stacks_set(unsigned frames) {
	if (_ZN6__asan20SetMallocContextSizeEj) _ZN6__asan20SetMallocContextSizeEj(frames);
}

// allocation_stacks_begin and allocation_stacks_end stand around a run. A program that checks for leaks itself has stacks in every run.
static void allocation_stacks_begin(uint32_t ask) {
	if (ask & ASK_STACKS || SHARED.state->leaks_asked) allocation_stacks_set(LEAK_FRAMES);
}

static void allocation_stacks_end(uint32_t ask) {
	if (ask & ASK_STACKS && !SHARED.state->leaks_asked) allocation_stacks_set(1);
}

// leaks_suspected reports whether to check for leaks. A process with more threads is not checked, since blocks may be referenced
// from their stacks only.
static int leaks_suspected(void) { return blocks > 0 && leaks_enabled && SHARED.state->leak_checks < MAX_LEAK_CHECKS && thread_count() == 1; }

// leaks_check repeats a run and ends the process if the run leaks memory.
static void leaks_check(const uint8_t *in, size_t n) {
	__atomic_store_n(&SHARED.results->leak_check, 1, __ATOMIC_RELAXED);
	allocation_stacks_set(LEAK_FRAMES);
	teasel_harness(in, n);
	exit_if_forked();
	allocation_stacks_set(1);
	counters_clear();
	if (__lsan_do_recoverable_leak_check()) _exit(EXIT_LEAK);
	__atomic_store_n(&SHARED.results->leak_check, 0, __ATOMIC_RELAXED);
	SHARED.state->leak_checks++;
}

// leaks_begin tests in a child whether LeakSanitizer works: it uses ptrace, which some containers forbid, and ends the process if
// that fails.
static void leaks_begin(void) {
	if (!__lsan_do_recoverable_leak_check || !allocations_watched) return;
	pid_t p = fork();
	if (p == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		__lsan_do_recoverable_leak_check();
		_exit(0); // leaks found here come from the start of the program
	}
	int status = 0;
	while (p > 0 && waitpid(p, &status, 0) < 0 && errno == EINTR) {
	}
	leaks_enabled = p > 0 && status == 0;
}
