// AFL's persistent mode, as the macros of AFL++ use it, which package clang defines: a program that calls __AFL_LOOP runs many inputs
// in one process, in batches as a harness does. It gets an input in memory if it has __AFL_FUZZ_INIT, and otherwise on standard
// input or in a file. The names of the functions and variables are those of AFL++.

extern const char teasel_loops __attribute__((weak)); // defined in teasel_loop.c
extern int __afl_sharedmem_fuzzing __attribute__((weak));    // of the program; 1: it takes inputs in memory
extern int __afl_selective_coverage_start_off __attribute__((weak)); // of the program; 1: coverage is off where a run begins

enum { AFL_INPUT = 1 << 20 }; // bytes, as in AFL++

static uint32_t afl_no_length;
uint32_t *__afl_fuzz_len = &afl_no_length;
uint8_t *__afl_fuzz_ptr; // 0: the program reads standard input into a buffer of its own

// LOOPS tells whether a process of the target runs many inputs in a loop of the target's own.
#define LOOPS (&teasel_loops != 0)

// afl_input_begin makes the memory for inputs. Programs ask for its address once, so that it stays where it is.
static void afl_input_begin(void) {
	if (!&__afl_sharedmem_fuzzing || !__afl_sharedmem_fuzzing) return;
	void *p = mmap(0, AFL_INPUT + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return;
	static uint32_t length;
	__afl_fuzz_len = &length;
	__afl_fuzz_ptr = p;
}

// afl_input_set puts an input there. What an earlier, longer input has left behind it is removed.
static void afl_input_set(const struct slot *s) {
	static uint32_t filled;
	uint32_t n = s->length < AFL_INPUT ? s->length : AFL_INPUT;
	__builtin_memcpy(__afl_fuzz_ptr, SHARED.inputs + s->offset, n);
	if (n < filled) __builtin_memset(__afl_fuzz_ptr + n, 0, filled - n);
	filled = n;
	*__afl_fuzz_len = n;
}

// __afl_fuzz_read reads an input from standard input, in a process that is run by hand. It returns its length.
uint32_t __afl_fuzz_read(uint8_t *buffer) {
	ssize_t n = read(0, buffer, AFL_INPUT);
	return *__afl_fuzz_len = n < 0 ? 0 : (uint32_t)n;
}

void __lsan_enable(void) __attribute__((weak));
void __lsan_disable(void) __attribute__((weak));

_Noreturn void __real__exit(int code);

void __afl_leak_check(void) {
	if (SHARED.attached) SHARED.state->leaks_asked = 1;
	if (!__lsan_do_recoverable_leak_check || !__lsan_do_recoverable_leak_check()) return;
	if (SHARED.attached) SHARED.state->leaked = 1;
	__real__exit(EXIT_LEAK); // not an exit of the program's own, which is judged as the end of its run
}

void __afl_lsan_on(void) {
	if (__lsan_enable) __lsan_enable();
}

void __afl_lsan_off(void) {
	if (__lsan_disable) __lsan_disable();
}

// Coverage that is off does not count: the counters are set back to what they were when it was switched off.

static uint8_t *coverage_kept; // a copy of all counters
static uint64_t coverage_touched;
static int coverage_is_off, coverage_skipped;

static void coverage_copy(int restore) {
	uint8_t *p = coverage_kept;
	for (uint32_t k = 0; k < region_count; k++) {
		size_t n = (size_t)(regions[k].end - regions[k].begin);
		if (restore) bytes_copy(regions[k].begin, p, n);
		else bytes_copy(p, regions[k].begin, n);
		p += n;
	}
	if (restore) bytes_copy(texts.counts, p, sizeof texts.counts);
	else bytes_copy(p, texts.counts, sizeof texts.counts);
}

void __afl_coverage_off(void) {
	if (coverage_is_off || !SHARED.attached) return;
	static size_t room; // libraries that were loaded since add counters
	size_t need = counter_count + sizeof texts.counts;
	if (room < need) {
		void *p = mmap(0, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED) return;
		coverage_kept = p;
		room = need;
	}
	coverage_is_off = 1;
	coverage_touched = texts.touched;
	coverage_copy(0);
}

void __afl_coverage_on(void) {
	if (!coverage_is_off) return;
	coverage_is_off = 0;
	coverage_copy(1);
	texts.touched = coverage_touched;
}

void __afl_coverage_discard(void) {
	if (coverage_is_off) {
		__afl_coverage_on();
		counters_clear();
		__afl_coverage_off();
	} else {
		counters_clear();
	}
}

void __afl_coverage_skip(void) { coverage_skipped = 1; }

static void coverage_begin(void) {
	coverage_is_off = coverage_skipped = 0;
	if (&__afl_selective_coverage_start_off && __afl_selective_coverage_start_off) __afl_coverage_off();
}

// coverage_end returns what is to be asked of the run: one that is to be skipped is judged like an input that a harness has rejected.
static uint32_t coverage_end(struct outcome *o, uint32_t ask) {
	__afl_coverage_on();
	if (!coverage_skipped) return ask;
	o->rejected = 1;
	return ask | ASK_QUIET;
}
