// The runtime that teasel links into a target. In a program that is run by hand it only calls main. Under teasel it starts
// three processes: a guardian, which kills all other processes when teasel is gone; the server, which forks; and the child,
// which runs a batch of inputs for every command and decides which of them reach new features.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "allocation.h"
#include "gap.h"
#include "layout.h"
#include "memory.h"
#include "msan.h"
#include "pad.h"

#include "counters.h"
#include "operands.h"
#include "exception.h"
#include "crash.h"
#include "forked.h"
#include "caught.h"
#include "segment.h"
#include "unhook.h"
#include "input.h"

// Defined in teasel_driver.c, if the target is a harness.
extern int (*teasel_harness)(const uint8_t *, size_t) __attribute__((weak));
#define HARNESS (&teasel_harness && teasel_harness)
extern int (*const teasel_initialize)(int *, char ***) __attribute__((weak));
// Defined in what is linked if the server is not to start before main.
extern const char teasel_deferred __attribute__((weak));
int __real_main(int argc, char **argv, char **envp);
int mallopt(int what, int value) __attribute__((weak)); // of glibc

static volatile uint32_t *batch_process; // 1 in the child that runs batches, 0 in what the target forks from it

// batch_process_begin makes a page that the kernel clears in forked processes. Kernels before Linux 4.14 do not.
static void batch_process_begin(void) {
	void *p = mmap(0, sizeof *batch_process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) _exit(1);
	madvise(p, sizeof *batch_process, MADV_WIPEONFORK);
	batch_process = p;
	*batch_process = 1;
}

// exit_if_forked ends a process that the harness has forked and in which the harness returns too: the process must not run the
// rest of the batch.
static inline void exit_if_forked(void) {
	if (!*batch_process) _exit(0);
}

// thread_count returns the number of threads of this process, 1 if the kernel does not tell.
static int thread_count(void) {
	struct stat st;
	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (int)st.st_nlink - 2 : 1;
}

#include "leak.h"
#include "custom.h"
#include "sharedcounters.h"
#include "sleep.h"
#include "afl.h"

// command_read waits for a command from teasel. It returns 0 if teasel is gone, or if the target has closed or replaced the
// descriptor.
static int command_read(struct command *c) {
	for (;;) {
		ssize_t n = read(SHARED.first_fd + FD_COMMAND, c, sizeof *c);
		if (n == sizeof *c && c->round == SHARED.control->round) return 1;
		if (n >= 0 || errno != EINTR) return 0;
	}
}

static int write_all(int fd, const void *p, size_t n) {
	for (;;) {
		ssize_t m = write(SHARED.first_fd + fd, p, n);
		if (m == (ssize_t)n) return 1;
		if (m >= 0 || errno != EINTR) return 0;
	}
}

// send_answer answers the command of a round.
static int send_answer(uint32_t round, uint32_t word, uint32_t status) {
	struct answer a = {SHARED.nonce, round, word, status, 0};
	return write_all(FD_STATUS, &a, sizeof a);
}

// send_status answers the current command.
static int send_status(uint32_t word) { return send_answer(SHARED.control->round, word, 0); }

// orphans_kill kills all children of this process, which as a subreaper has adopted orphaned processes too.
static void orphans_kill(void) {
	for (;;) {
		int status;
		pid_t p = waitpid(-1, &status, WNOHANG | __WALL);
		if (p > 0) continue;
		if (p < 0 && errno != EINTR) return;
		char list[4096];
		int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, list, sizeof list);
		if (fd >= 0) close(fd);
		if (n <= 0) return; // without the kernel's list, teasel kills the session only
		pid_t pid = 0;
		for (ssize_t i = 0; i < n; i++) {
			if (list[i] >= '0' && list[i] <= '9') {
				pid = pid * 10 + (list[i] - '0');
				continue;
			}
			if (pid > 1) kill(pid, SIGKILL);
			pid = 0;
		}
		while (waitpid(-1, &status, __WALL) < 0 && errno == EINTR) {
		}
	}
}

// guardian_run waits until teasel writes a byte or closes the pipe, which the kernel does if teasel dies. Then it kills all
// processes of the target. It removes the input file only if teasel has died: otherwise teasel uses the file again.
static _Noreturn void guardian_run(pid_t server) {
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++)
		if (fd != FD_LIFE) close(SHARED.first_fd + fd);
	char word;
	ssize_t n;
	while ((n = read(SHARED.first_fd + FD_LIFE, &word, 1)) < 0 && errno == EINTR) {
	}
	kill(-server, SIGKILL);
	kill(server, SIGKILL);
	orphans_kill();
	if (input_path && n == 0) input_remove();
	_exit(0);
}

// hello sends the description of this program.
static int hello(void) {
	struct hello h = {.magic = TEASEL_MAGIC, .version = TEASEL_VERSION, .counters = counter_count, .modules = region_count, .pid = (uint32_t)getpid(),
	                  .edges = edge_count, .shape = shape};
	h.flags = (HARNESS ? HELLO_HARNESS : 0) | (LOOPS && !HARNESS ? HELLO_LOOPS : 0) | (__afl_fuzz_ptr && !HARNESS ? HELLO_MEMORY : 0) | (__asan_init ? HELLO_ASAN : 0) | (__msan_init ? HELLO_MSAN : 0) |
	          (__tsan_init ? HELLO_TSAN : 0) | (__ubsan_handle_builtin_unreachable ? HELLO_UBSAN : 0) | custom_flags();
	return write_all(FD_STATUS, &h, sizeof h);
}

// heap_keep makes the allocator keep freed memory for the next run: returning it to the kernel and faulting it in again, page by
// page, takes longer than most runs.
static void heap_keep(void) {
	enum { TRIM_THRESHOLD = -1, MMAP_THRESHOLD = -3 }; // as in malloc.h
	if (!mallopt) return;
	mallopt(MMAP_THRESHOLD, 4 << 20);
	mallopt(TRIM_THRESHOLD, 16 << 20);
}

// prepare is called in each process that has mapped the memory, before the target gets its first input.
static void prepare(void) {
	gap_return = &SHARED.state->return_address;
	buckets_init();
	counters_clear();
	if (!HARNESS && !LOOPS) return;
	heap_keep();
	if (!HARNESS) return;
	allocations_watch();
}

// guardian_start forks the server, in which it returns. The calling process becomes the guardian.
static void guardian_start(void) {
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t guardian = getpid(), server = fork();
	if (server < 0) _exit(1);
	if (server > 0) guardian_run(server);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guardian) _exit(1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close(SHARED.first_fd + FD_LIFE);
}

// set_running_pid sets the process that teasel kills when a run takes too long. Only a process that runs a batch may call it: the
// child of another server, which shares the memory, may be starting at the same time.
static void set_running_pid(pid_t p) { __atomic_store_n(&SHARED.results->pid, p, __ATOMIC_RELAXED); }

static void child_begin(pid_t server) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server) _exit(0);
	handlers_install();
	report_begin();
	pthread_atfork(0, 0, forked_begin);
}

#include "respawn.h"

// child forks a process that runs inputs. If the target has threads of its own, which fork does not copy, the forked process
// executes the program again instead and continues in child_main.
static pid_t child(void) {
	pid_t server = getpid(), p = fork();
	if (p == 0 && respawning) respawn();
	if (p == 0) child_begin(server);
	return p;
}

// child_wait waits for a child and returns its wait status and its resource usage.
static uint32_t child_wait(pid_t p, struct rusage *used) {
	int status = 0;
	while (wait4(p, &status, 0, used) < 0 && errno == EINTR) {
	}
	__atomic_compare_exchange_n(&SHARED.results->pid, &(int32_t){p}, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	orphans_kill();
	return (uint32_t)status;
}

// batch_begin resets the results and returns the end of the batch.
static uint32_t batch_begin(void) {
	struct results *r = SHARED.results;
	lseek(2, 0, SEEK_SET);
	lseek(SHARED.first_fd + FD_REPORT, 0, SEEK_SET);
	r->features_used = r->operands_used = r->signal = r->frame_count = r->samples = r->forked = r->leak_check = 0;
	uint32_t n = SHARED.control->count < SHARED.slot_count ? SHARED.control->count : SHARED.slot_count;
	for (uint32_t i = SHARED.control->from; i < n; i++) {
		struct outcome *o = SHARED.outcomes + i;
		o->feature_count = o->operand_count = o->status = o->rejected = 0;
	}
	return n;
}

// A harness gets its input at the end of a page that is followed by an unmapped page, so that reading beyond the input crashes.
// Under a sanitizer, which detects more, the input is in allocated memory.
enum { ALIGNED = 16 };

static uint8_t *input_buffer;
static size_t input_buffer_size;

// input_place copies an input there.
static uint8_t *input_place(const struct slot *s) {
	size_t need = (s->length + (size_t)ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	if (need > input_buffer_size || !input_buffer) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		if (input_buffer) munmap(input_buffer, input_buffer_size + page);
		input_buffer_size = (need + (need >> 1) + page) & ~(page - 1);
		input_buffer = mmap(0, input_buffer_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (input_buffer == MAP_FAILED) abort();
		mprotect(input_buffer + input_buffer_size, page, PROT_NONE);
	}
	uint8_t *at = input_buffer + input_buffer_size - need;
	__builtin_memcpy(at, SHARED.inputs + s->offset, s->length);
	for (uint8_t *p = at + s->length; p < at + need; p++) *p = 0; // otherwise the harness could read bytes of an earlier input
	return at;
}

static uint64_t cpu_used(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// teasel_run is inlined into its caller, so that the gap is next to the frame of the harness.
static inline __attribute__((always_inline)) void teasel_run(uint32_t i, int sanitized, const uint64_t *gap) {
	const struct slot *s = SHARED.slots + i;
	struct outcome *o = SHARED.outcomes + i;
	uint32_t ask = s->ask;
	uint8_t *in;
	allocation_stacks_begin(ask);
	if (sanitized) {
		in = malloc(s->length ? s->length : 1);
		if (!in) abort();
		__builtin_memcpy(in, SHARED.inputs + s->offset, s->length);
		initialised(in, s->length);
		parameters_initialised(2);
	} else {
		in = input_place(s);
	}
	if (ask & ASK_OPERANDS) record_begin(o);
	running = 1;
	blocks = 0;
	uint64_t began = ask & ASK_TRACE ? cpu_used() : 0;
	o->rejected = gap_run(gap, teasel_harness, in, s->length) == -1;
	exit_if_forked();
	end_if_forked_died();
	if (ask & ASK_TRACE) o->cpu = cpu_used() - began;
	int suspected = !(ask & ASK_NO_LEAKS) && leaks_suspected();
	if (ask & ASK_OPERANDS) record_end(o);
	if (o->rejected) ask |= ASK_QUIET; // teasel does not keep the input: its features must stay new for an input that it keeps
	judge(i, ask);
	if (suspected) leaks_check(in, s->length);
	running = 0;
	if (sanitized) free(in);
	allocation_stacks_end(ask);
}

// teasel_child runs batches until it has made the number of runs after which a child is replaced. The counters are zero when it
// begins, and after every run.
static _Noreturn void teasel_child(void) {
	int sanitized = __asan_init || __msan_init;
	uint32_t runs = 0;
	struct command command;
	pid_t pid = getpid();
	uint64_t *gap = __builtin_alloca(gap_size);
	gap_begin(gap);
	batch_process_begin();
	for (;;) {
		if (!command_read(&command)) _exit(0);
		if (command.word == COMMAND_RENEW) {
			send_status(STATUS_RENEWED);
			_exit(0);
		}
		uint32_t from = SHARED.control->from, n = batch_begin();
		set_running_pid(pid);
		if (command.word == COMMAND_MUTATE) mutate_batch(from, n);
		else
			for (uint32_t i = from; i < n; i++) {
				__atomic_store_n(&SHARED.results->cur, i, __ATOMIC_RELAXED);
				teasel_run(i, sanitized, gap);
			}
		runs += n - from;
		if (!send_status(STATUS_DONE)) {
			SHARED.state->exit_reason = ANSWER_FAILED;
			_exit(0);
		}
		if (SHARED.control->max_runs && runs >= SHARED.control->max_runs) _exit(0);
	}
}

// command_pending reports whether an unread command is pending, and ends this process if teasel is gone.
static int command_pending(void) {
	struct pollfd p = {.fd = SHARED.first_fd + FD_COMMAND, .events = POLLIN};
	while (poll(&p, 1, 0) < 0 && errno == EINTR) {
	}
	if (p.revents & POLLIN) return 1;
	if (p.revents) _exit(0);
	return 0;
}

enum { SEND_CHECKS = 10000 }; // how often to check whether a command has been sent completely

// last_round_taken returns the round of the last command that was read from the pipe.
static uint32_t last_round_taken(void) {
	for (int i = 0; SHARED.control->sent != SHARED.control->round && i < SEND_CHECKS && !command_pending(); i++) usleep(100);
	return SHARED.control->sent;
}

enum { IDLE_DEATHS = 16 }; // consecutive children that died before they read a command, after which the server ends

// teasel_serve forks children that run batches. It reports the end of each child to teasel, whatever the child has sent itself:
// that may have been overwritten. teasel ignores a second answer to a round.
static _Noreturn void teasel_serve(void) {
	uint32_t idle = 0, last = 0;
	for (;;) {
		SHARED.state->exit_reason = 0;
		if (gap_expected) SHARED.state->return_address = gap_expected;
		pid_t p = child();
		if (p < 0) _exit(1);
		if (p == 0) teasel_child();
		struct rusage used;
		uint32_t status = child_wait(p, &used), round = last_round_taken();
		if (!gap_expected && gap_plausible(SHARED.state->return_address)) gap_expected = SHARED.state->return_address;
		idle = round != last ? 0 : idle + 1;
		last = round;
		if (idle == IDLE_DEATHS) _exit(1);
		if (command_pending()) continue; // for the next child
		if (!send_answer(round, SHARED.state->exit_reason == ANSWER_FAILED ? STATUS_DONE : STATUS_DEAD, status)) _exit(0);
	}
}

// A program with a main is forked for every input. Its counters are judged when it exits.

static int program_runs;
static uint64_t loop_cpu; // processor time of this process when the run in flight began

static void program_judge_used(uint32_t i, uint64_t cpu) {
	uint32_t ask = SHARED.slots[i].ask;
	struct outcome *o = SHARED.outcomes + i;
	if (ask & ASK_TRACE) o->cpu = cpu;
	if (ask & ASK_OPERANDS) record_end(o);
	judge(i, coverage_end(o, ask));
}

static void program_judge(void) {
	caught_exit();
	if (!program_runs || SHARED.results->pid != getpid()) return; // another process that the program has forked
	program_runs = 0;
	program_judge_used(SHARED.results->cur < SHARED.slot_count ? SHARED.results->cur : 0, cpu_used() - loop_cpu);
	SHARED.state->judged = JUDGED;
}

// program_judge_ended judges, in the server, a run that has ended without a call of program_judge.
static void program_judge_ended(uint32_t i, const struct rusage *used) {
	counters_fetch();
	program_judge_used(i, ((uint64_t)used->ru_utime.tv_sec + (uint64_t)used->ru_stime.tv_sec) * 1000000000 +
	                          ((uint64_t)used->ru_utime.tv_usec + (uint64_t)used->ru_stime.tv_usec) * 1000);
}

_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code) {
	program_judge();
	__real__exit(code);
}

_Noreturn void __real__Exit(int code);
_Noreturn void __wrap__Exit(int code) {
	program_judge();
	__real__Exit(code);
}

// program_begin sets up the descriptors, the counters and the exit handlers of a process in which main is to run.
static void program_begin(void) {
	uint32_t i = SHARED.results->cur;
	set_running_pid(getpid());
	SHARED.results->signal = 0;
	if (!input_path) dup2(SHARED.first_fd + FD_INPUT, 0);
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++)
		if (fd != FD_REPORT) close(SHARED.first_fd + fd);
	if (__afl_fuzz_ptr) afl_input_set(SHARED.slots + i);
	counters_share();
	coverage_begin();
	atexit(program_judge);
	at_quick_exit(program_judge);
	program_runs = running = 1;
	allocation_stacks_begin(SHARED.slots[i].ask);
	if (SHARED.slots[i].ask & ASK_OPERANDS) record_begin(SHARED.outcomes + i);
}

#include "persistent.h"

// program_serve forks a child for every input. It returns in the child, for main to be called.
static void program_serve(void) {
	struct command command;
	while (command_read(&command)) {
		uint32_t answer = STATUS_RENEWED, status = 0;
		if (command.word == COMMAND_RUN) {
			uint32_t n = batch_begin();
			answer = STATUS_DONE;
			for (uint32_t i = SHARED.control->from; i < n && answer == STATUS_DONE; i++) {
				__atomic_store_n(&SHARED.results->cur, i, __ATOMIC_RELAXED);
				lseek(2, 0, SEEK_SET);
				if (!input_write(SHARED.slots + i)) _exit(1);
				SHARED.state->judged = JUDGED_NOT;
				SHARED.state->leaked = SHARED.results->forked = 0;
				pid_t p = child();
				if (p < 0) _exit(1);
				if (p == 0) {
					program_begin();
					return;
				}
				struct rusage used = {0};
				SHARED.outcomes[i].status = status = child_wait(p, &used);
				if (WIFSIGNALED(status) || SHARED.state->leaked || forked_has_died()) answer = STATUS_DEAD;
				else if (SHARED.state->judged) continue;
				else if (shared_begin()) i--; // run it again with shared counters
				else program_judge_ended(i, &used);
			}
		}
		if (!send_answer(SHARED.control->round, answer, status)) break;
	}
	_exit(0);
}

// initialize calls the harness's LLVMFuzzerInitialize, and records which signal handlers are installed after that.
static void initialize(int *argc, char ***argv) {
	if (HARNESS && teasel_initialize) {
		parameters_initialised(2);
		teasel_initialize(argc, argv);
	}
	handlers_record();
}

// start tells where the server starts. It is 0 in a process that is run by hand, and after the start.
static int start_pending;
static pid_t start_child; // the server, in a child that has executed the program again; 0: this process is to become the server
char **teasel_main_args;

static char **arguments_copy(int argc, char **argv) {
	char **copy = calloc((size_t)argc + 1, sizeof *copy);
	if (!copy) _exit(1);
	for (int i = 0; i < argc; i++) copy[i] = strdup(argv[i]);
	return copy;
}

// server_begin starts the guardian and the server. It returns in the server, when teasel has laid out the memory.
static int server_begin(int *argc, char ***argv) {
	int threads = thread_count();
	respawn_prepare(threads > 1);
	guardian_start();
	if (!respawning) {
		initialize(argc, argv);
		if (thread_count() > threads) respawning = 1;
	}
	struct command go;
	if (!hello() || read(SHARED.first_fd + FD_COMMAND, &go, sizeof go) != sizeof go) return 0;
	if (!memory_map(respawn_state())) return 0;
	// The target must not reach the memory through a descriptor. A child that executes the program again needs the descriptors.
	for (int fd = FD_CONTROL; fd <= FD_RESULTS && !respawning; fd++) close(SHARED.first_fd + fd);
	if (HARNESS) close(SHARED.first_fd + FD_INPUT);
	prepare();
	SHARED.results->unhooked = unhook((const uint64_t *)(SHARED.inputs + SHARED.control->inputs), SHARED.control->count);
	if (HARNESS) leaks_begin();
	memory_protect();
	return send_status(STATUS_RENEWED);
}

// teasel_start starts the server where the program is ready for its first input: before main, or where the program says so. It
// returns in a child of a program that is no harness, and in a process that is not run by teasel.
void teasel_start(int *argc, char ***argv) {
	if (!start_pending) return;
	start_pending = 0;
	if (start_child) {
		child_main(argc, argv, start_child);
		return;
	}
	if (!server_begin(argc, argv)) _exit(1);
	if (HARNESS) teasel_serve();
	if (LOOPS) loop_serve();
	else program_serve();
}

int __wrap_main(int argc, char **argv, char **envp) {
	const char *fd = getenv("TEASEL_FD"), *server = getenv("TEASEL_CHILD");
	teasel_main_args = arguments_copy(argc, argv); // main may change them
	if (!fd) {
		const char *segment = getenv("TEASEL_SEGMENT");
		if (segment) segment_attach(segment);
		sleep_cut_wanted = segment_base && !getenv("TEASEL_KEEP_SLEEP");
		return __real_main(argc, argv, envp);
	}
	SHARED.first_fd = atoi(fd);
	input_path = getenv("TEASEL_INPUT");
	for (int i = FD_COMMAND; i <= FD_COUNT; i++) fcntl(SHARED.first_fd + i, F_SETFD, FD_CLOEXEC);
	if (input_path) input_path = strdup(input_path); // the target may change the environment
	if (server) start_child = atoi(server);
	unsetenv("TEASEL_FD");
	unsetenv("TEASEL_CHILD");
	unsetenv("TEASEL_INPUT");
	start_pending = 1;
	afl_input_begin();
	if (!&teasel_deferred) teasel_start(&argc, &argv);
	return __real_main(argc, argv, envp);
}
