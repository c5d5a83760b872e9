// LLVMFuzzerRunDriver, libFuzzer's entry, for teasel_main.c and for programs with a main of their own. Under teasel it serves inputs.
// By hand it runs the files named by the arguments, without any other program. If the arguments ask for fuzzing, it executes teasel,
// which supports libFuzzer's flags.

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t most, unsigned seed);

void teasel_start(int *argc, char ***argv);
extern const char teasel_has_main __attribute__((weak)); // defined in teasel_main.c
extern char **teasel_main_args; // a copy of the arguments of main

extern int (*teasel_harness)(const uint8_t *, size_t);
extern int (*const teasel_initialize)(int *, char ***);
int (*teasel_harness)(const uint8_t *, size_t); // 0: LLVMFuzzerRunDriver has not been called
int (*const teasel_initialize)(int *, char ***) = LLVMFuzzerInitialize;

extern size_t (*const teasel_mutator)(uint8_t *, size_t, size_t, unsigned);
extern size_t (*const teasel_crossover)(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t, unsigned);
size_t (*const teasel_mutator)(uint8_t *, size_t, size_t, unsigned) = LLVMFuzzerCustomMutator;
size_t (*const teasel_crossover)(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t, unsigned) = LLVMFuzzerCustomCrossOver;

int __llvm_profile_write_file(void) __attribute__((weak)); // of a build with source coverage
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

__attribute__((weak)) extern const char teasel_deferred; // the server starts in LLVMFuzzerRunDriver
const char teasel_deferred = 1;

#include "allocation.h"
#include "gap.h"
#include "msan.h"
#include "mutate.h"

#ifndef TEASEL_PATH
#define TEASEL_PATH ""
#endif

// libFuzzer's exit statuses.
enum { EXIT_CRASH = 77, EXIT_TIMEOUT = 70, EXIT_MEMORY = 71, EXIT_WRONG = 1 };

struct flags {
	long runs, timeout;
	long rss, allocation; // limits of memory in use and of a single allocation, in MiB; 0: no limit, and the limit of rss
	int fuzz; // not 0: the arguments ask for something that only teasel can do
	int final_stats;
	int inputs; // number of arguments that are not flags
	int error_status, timeout_status;
};

static struct flags flags = {.timeout = 1200, .rss = 2048, .error_status = EXIT_CRASH, .timeout_status = EXIT_TIMEOUT};

static int is_flag(const char *arg) { return arg[0] == '-' && arg[1]; }

static const char *value_of(const char *arg, const char *name) {
	size_t n = strlen(name);
	return arg[0] == '-' && !strncmp(arg + 1, name, n) && arg[1 + n] == '=' ? arg + n + 2 : 0;
}

static void flag_read(const char *arg) {
	static const char *const fuzzing[] = {"minimize_crash", "merge", "set_cover_merge", "fork", "cleanse_crash", "jobs", "help", "create_missing_dirs"};
	const char *v;
	for (size_t i = 0; i < sizeof fuzzing / sizeof *fuzzing; i++)
		if ((v = value_of(arg, fuzzing[i])) && atol(v) > 0) flags.fuzz = 1;
	if ((v = value_of(arg, "runs"))) flags.runs = atol(v);
	if ((v = value_of(arg, "timeout"))) flags.timeout = atol(v);
	if ((v = value_of(arg, "rss_limit_mb"))) flags.rss = atol(v);
	if ((v = value_of(arg, "malloc_limit_mb"))) flags.allocation = atol(v);
	if ((v = value_of(arg, "print_final_stats"))) flags.final_stats = atoi(v);
	if ((v = value_of(arg, "error_exitcode"))) flags.error_status = atoi(v);
	if ((v = value_of(arg, "timeout_exitcode"))) flags.timeout_status = atoi(v);
	if (!strcmp(arg, "--help")) flags.fuzz = 1;
}

// files_only reports whether the arguments name files to run and ask for nothing else.
static int files_only(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		struct stat st;
		if (value_of(argv[i], "ignore_remaining_args")) break;
		if (is_flag(argv[i])) {
			flag_read(argv[i]);
			continue;
		}
		flags.inputs++;
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) flags.fuzz = 1;
	}
	return flags.inputs && !flags.fuzz;
}

static volatile sig_atomic_t running;

static void write_error(const char *text) { (void)!write(2, text, strlen(text)); }

static void report_error(const char *what) {
	char line[160];
	snprintf(line, sizeof line, "==%d== ERROR: libFuzzer: %s\n", (int)getpid(), what);
	write_error(line);
}

static void profile_save(void) {
	if (__llvm_profile_write_file) __llvm_profile_write_file();
}

static void on_signal(int signal) {
	int status = signal == SIGALRM ? flags.timeout_status : flags.error_status;
	char what[64];
	snprintf(what, sizeof what, "timeout after %ld seconds", flags.timeout);
	report_error(signal == SIGALRM ? what : "deadly signal");
	profile_save();
	_exit(status);
}

static void teasel_on_allocation(const volatile void *p, size_t size) {
	long most = flags.allocation > 0 ? flags.allocation : flags.rss;
	(void)p;
	if (!running || most <= 0 || size >> 20 < (size_t)most) return;
	running = 0;
	teasel_allocation_report(2, size);
	profile_save();
	_exit(EXIT_MEMORY);
}

static void on_free(const volatile void *p) { (void)p; }

// watch_memory ends the program when a run holds more than it may, which may come of many small allocations.
static void *watch_memory(void *unused) {
	(void)unused;
	for (;;) {
		long all, resident = 0;
		FILE *f = fopen("/proc/self/statm", "r");
		if (f) {
			if (fscanf(f, "%ld %ld", &all, &resident) != 2) resident = 0;
			fclose(f);
		}
		long used = resident * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
		if (running && used > flags.rss) {
			char what[96];
			running = 0;
			snprintf(what, sizeof what, "out-of-memory (used: %ldMb; limit: %ldMb)", used, flags.rss);
			report_error(what);
			profile_save();
			_exit(EXIT_MEMORY);
		}
		usleep(100000);
	}
	return 0;
}

static void on_exit_inside(void) {
	if (!running) return;
	report_error("fuzz target exited");
	profile_save();
	_exit(flags.error_status);
}

// handlers_install handles the fatal signals that have no handler yet: a sanitizer's handlers report more.
static void handlers_install(void) {
	static uint8_t stack[1 << 16];
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM};
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
		struct sigaction old;
		if (sigaction(fatal[i], 0, &old) || old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL) continue;
		sigaction(fatal[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, 0);
	}
	if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(profile_save);
	if (__sanitizer_install_malloc_and_free_hooks) __sanitizer_install_malloc_and_free_hooks(teasel_on_allocation, on_free);
	atexit(on_exit_inside);
	pthread_t watch;
	if (flags.rss > 0 && !pthread_create(&watch, 0, watch_memory, 0)) pthread_detach(watch);
}

// load returns a copy of a file in memory of its exact size, for a sanitizer to see its end.
static uint8_t *load(const char *name, size_t *size) {
	FILE *f = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	size_t n = 0, room = 4096;
	uint8_t *p = f ? malloc(room) : 0;
	while (p) {
		size_t got = fread(p + n, 1, room - n, f);
		if (!got) break;
		if ((n += got) < room) continue;
		uint8_t *more = realloc(p, room *= 2);
		if (!more) free(p);
		p = more;
	}
	uint8_t *in = p && !ferror(f) ? malloc(n ? n : 1) : 0;
	if (in) memcpy(in, p, n);
	if (!in) perror(name);
	free(p);
	if (f && f != stdin) fclose(f);
	*size = n;
	return in;
}

static long milliseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// run_input runs one input. It is a part of the function that has the gap: a frame between that and the harness would be the first to be
// overwritten.
static inline __attribute__((always_inline)) void run_input(uint64_t *gap, const uint8_t *input, size_t size) {
	uint8_t *in = malloc(size ? size : 1); // of the exact size, for a sanitizer to detect reads beyond; the harness may write to it
	if (!in) abort();
	memcpy(in, input, size);
	initialised(in, size);
	if (flags.timeout > 0) alarm((unsigned)flags.timeout);
	running = 1;
	parameters_initialised(2);
	gap_run(gap, teasel_harness, in, size);
	running = 0;
	alarm(0);
	free(in);
}

// next_input moves *at to the next of the inputs that a file stands for, and returns its size; -1: there is none, or the file stands for
// itself. Package native says what is in such a file.
static long next_input(const uint8_t **at, const uint8_t *end) {
	long size = 0;
	const uint8_t *p = *at;
	for (; p < end && *p >= '0' && *p <= '9' && size <= end - p; p++) size = size * 10 + *p - '0';
	if (p == *at || p == end || *p++ != '\n' || size > end - p) return -1;
	*at = p;
	return size;
}

// run_file runs one file as often as -runs says, or each of the inputs that it stands for.
static int run_file(const char *name, long times) {
	static const char mark[] = "teasel: inputs of one process\n";
	size_t size;
	uint8_t *file = load(name, &size);
	if (!file) return 0;
	fprintf(stderr, "Running: %s\n", name);
	uint64_t *gap = __builtin_alloca(gap_size);
	gap_begin(gap);
	const uint8_t *first = file + sizeof mark - 1, *end = file + size, *at = first;
	int several = size >= sizeof mark && !memcmp(file, mark, sizeof mark - 1);
	for (long n; several && at < end; at += n)
		if ((n = next_input(&at, end)) < 0) several = 0;
	long begun = milliseconds();
	for (long i = 0; i < times; i++) {
		if (!several) run_input(gap, file, size);
		at = first;
		for (long n; several && at < end && (n = next_input(&at, end)) >= 0; at += n) run_input(gap, at, (size_t)n);
	}
	gap_set_shadow(gap, __asan_set_shadow_00);
	free(file);
	fprintf(stderr, "Executed %s in %ld ms\n", name, milliseconds() - begun);
	return 1;
}

static int run_files(int argc, char **argv) {
	long times = flags.runs > 1 ? flags.runs : 1, done = 0, begun = milliseconds();
	int status = 0, count = flags.inputs;
	char **names = calloc((size_t)count, sizeof *names);
	if (!names) abort();
	for (int i = 1, n = 0; n < count; i++)
		if (!is_flag(argv[i])) names[n++] = strdup(argv[i]);
	if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
	handlers_install();
	fprintf(stderr, "%s: Running %d inputs %ld time(s) each.\n", argv[0], count, times);
	for (int n = 0; n < count; n++) {
		if (run_file(names[n], times)) done += times;
		else status = EXIT_WRONG;
		free(names[n]);
	}
	free(names);
	fprintf(stderr, "***\n*** NOTE: fuzzing was not performed, you have only\n***       executed the target code on a fixed set of inputs.\n***\n");
	if (flags.final_stats) {
		struct rusage used;
		long ms = milliseconds() - begun;
		getrusage(RUSAGE_SELF, &used);
		fprintf(stderr, "stat::number_of_executed_units: %ld\nstat::average_exec_per_sec:     %ld\nstat::new_units_added:          0\n"
			"stat::slowest_unit_time_sec:    0\nstat::peak_rss_mb:              %ld\n", done, ms > 0 ? done * 1000 / ms : 0, used.ru_maxrss >> 10);
	}
	return status;
}

// become_teasel executes teasel with this program, the arguments of a main of its own, and those of the driver.
static int become_teasel(int argc, char **argv) {
	static char self[PATH_MAX], count[24];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int mains = 0;
	while (!&teasel_has_main && teasel_main_args && teasel_main_args[mains]) mains++;
	char **args = calloc((size_t)(argc + mains) + 6, sizeof *args), **at = args;
	if (n < 0 || !args) {
		perror(argv[0]);
		return EXIT_WRONG;
	}
	const char *baked = TEASEL_PATH, *wanted = getenv("TEASEL");
	const char *teasel = wanted && *wanted ? wanted : *baked && access(baked, X_OK) == 0 ? baked : "teasel";
	*at++ = (char *)teasel;
	*at++ = (char *)"libfuzzer";
	if (mains) {
		snprintf(count, sizeof count, "--main=%d", mains - 1);
		*at++ = count;
	}
	*at++ = (char *)"--";
	*at++ = self;
	for (int i = 1; i < mains; i++) *at++ = teasel_main_args[i];
	for (int i = 1; i < argc; i++) *at++ = argv[i];
	execvp(teasel, args);
	fprintf(stderr, "%s: fuzzing needs teasel, and %s cannot be run: %s\n"
		"hint: put teasel into PATH, or set the environment variable TEASEL to its path; to run inputs without it: %s FILE...\n",
		argv[0], teasel, strerror(errno), argv[0]);
	free(args); // otherwise a sanitizer would report a leak
	return EXIT_WRONG;
}

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*harness)(const uint8_t *, size_t)) {
	teasel_harness = harness;
	teasel_start(argc, argv); // under teasel it does not return
	return files_only(*argc, *argv) ? run_files(*argc, *argv) : become_teasel(*argc, *argv);
}
