// The runtime that teasel links into a target. Run by hand it does nothing but call main. Under teasel it starts three
// processes: a guardian, which kills all that is left when teasel is gone; the server, which forks; and the child, which
// runs a batch of inputs for every command and judges by itself which of them are news.

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
#include "crash.h"
#include "segment.h"
#include "unhook.h"
#include "input.h"

// Defined in teasel_main.c, if the target is a harness.
extern int (*const teasel_harness)(const uint8_t *, size_t) __attribute__((weak));
extern int (*const teasel_initialize)(int *, char ***) __attribute__((weak));
int __real_main(int argc, char **argv, char **envp);
int mallopt(int what, int value) __attribute__((weak)); // of glibc

static volatile uint32_t *batch_process; // 1 in the child that runs batches, 0 in what the target forks from it

// batch_process_begin makes a page that the kernel clears in a process that is forked. Before Linux 4.14 it does not.
static void batch_process_begin(void) {
	void *p = mmap(0, sizeof *batch_process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) _exit(1);
	madvise(p, sizeof *batch_process, MADV_WIPEONFORK);
	batch_process = p;
	*batch_process = 1;
}

// exit_if_forked ends a process that the harness has forked and that returns as well: it has no business with the rest of
// the batch.
static inline void exit_if_forked(void) {
	if (!*batch_process) _exit(0);
}

// thread_count returns how many threads this process has, 1 if the kernel does not say.
static int thread_count(void) {
	struct stat st;
	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (int)st.st_nlink - 2 : 1;
}

#include "leak.h"
#include "custom.h"
#include "sharedcounters.h"
#include "sleep.h"

// command_read waits for a command of teasel's. There is none if teasel is gone, or the target has closed the descriptor, or
// put another in its place.
static int command_read(struct command *c) {
	for (;;) {
		ssize_t n = read(AT.first_fd + FD_COMMAND, c, sizeof *c);
		if (n == sizeof *c && c->round == AT.control->round) return 1;
		if (n >= 0 || errno != EINTR) return 0;
	}
}

static int all_write(int fd, const void *p, size_t n) {
	for (;;) {
		ssize_t m = write(AT.first_fd + fd, p, n);
		if (m == (ssize_t)n) return 1;
		if (m >= 0 || errno != EINTR) return 0;
	}
}

static int tell_of(uint32_t round, uint32_t word, uint32_t status) {
	struct answer a = {AT.nonce, round, word, status, 0};
	return all_write(FD_STATUS, &a, sizeof a);
}

static int tell(uint32_t word) { return tell_of(AT.control->round, word, 0); }

// orphans_kill ends every child we have, which includes those that have lost their parent.
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
		if (n <= 0) return; // without the kernel's list there is only the session, which teasel kills
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

// guard waits until teasel has no use for the server any more, of which it hears a word, or is gone without one. It leaves
// nothing behind; the file of the input is teasel's as long as there is teasel.
static _Noreturn void guard(pid_t server) {
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++)
		if (fd != FD_LIFE) close(AT.first_fd + fd);
	char word;
	ssize_t n;
	while ((n = read(AT.first_fd + FD_LIFE, &word, 1)) < 0 && errno == EINTR) {
	}
	kill(-server, SIGKILL);
	kill(server, SIGKILL);
	orphans_kill();
	if (input_path && n == 0) input_remove();
	_exit(0);
}

// hello says what this program is.
static int hello(void) {
	struct hello h = {.magic = TEASEL_MAGIC, .version = TEASEL_VERSION, .counters = counter_count, .modules = region_count, .pid = (uint32_t)getpid(),
	                  .edges = edge_count, .shape = shape};
	h.flags = (&teasel_harness ? HELLO_HARNESS : 0) | (__asan_init ? HELLO_ASAN : 0) | (__msan_init ? HELLO_MSAN : 0) |
	          (__tsan_init ? HELLO_TSAN : 0) | (__ubsan_handle_builtin_unreachable ? HELLO_UBSAN : 0) | custom_flags();
	return all_write(FD_STATUS, &h, sizeof h);
}

// heap_keep has the allocator keep what a run has freed for the next one: to give it back to the kernel and to get it again,
// page by page, takes longer than most runs.
static void heap_keep(void) {
	enum { TRIM_THRESHOLD = -1, MMAP_THRESHOLD = -3 }; // as in malloc.h
	if (!mallopt) return;
	mallopt(MMAP_THRESHOLD, 4 << 20);
	mallopt(TRIM_THRESHOLD, 16 << 20);
}

// prepare is for every process that has just mapped the memory, before the target gets its first input.
static void prepare(void) {
	gap_return = &AT.state->return_address;
	buckets_init();
	counters_clear();
	if (!&teasel_harness) return;
	heap_keep();
	allocations_watch();
}

// guard_start makes this process the guardian, and returns in the server, or never.
static void guard_start(void) {
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t guardian = getpid(), server = fork();
	if (server < 0) _exit(1);
	if (server > 0) guard(server);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guardian) _exit(1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close(AT.first_fd + FD_LIFE);
}

// running_here says whom to kill. Only who is running a batch may say so: another server's child may be starting.
static void running_here(pid_t p) { __atomic_store_n(&AT.results->pid, p, __ATOMIC_RELAXED); }

static void child_begin(pid_t server) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server) _exit(0);
	crash_watch();
	// A sanitizer closes a file that another process has named, so each child names it.
	if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)(AT.first_fd + FD_REPORT));
}

#include "respawn.h"

// child forks a process that runs inputs. If the target has threads of its own by then, which fork does not copy, the process
// begins anew instead, and comes to child_main.
static pid_t child(void) {
	pid_t server = getpid(), p = fork();
	if (p == 0 && respawning) respawn();
	if (p == 0) child_begin(server);
	return p;
}

// await returns how a child ended, and what it has used.
static uint32_t await(pid_t p, struct rusage *used) {
	int status = 0;
	while (wait4(p, &status, 0, used) < 0 && errno == EINTR) {
	}
	__atomic_compare_exchange_n(&AT.results->pid, &(int32_t){p}, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	orphans_kill();
	return (uint32_t)status;
}

// batch_begin returns the end of the batch that the command is about.
static uint32_t batch_begin(void) {
	struct results *r = AT.results;
	lseek(2, 0, SEEK_SET);
	lseek(AT.first_fd + FD_REPORT, 0, SEEK_SET);
	r->features_used = r->operands_used = r->signal = r->frame_count = r->samples = r->looking = 0;
	uint32_t n = AT.control->count < AT.slot_count ? AT.control->count : AT.slot_count;
	for (uint32_t i = AT.control->from; i < n; i++) {
		struct outcome *o = AT.outcomes + i;
		o->feature_count = o->operand_count = o->status = o->refused = 0;
	}
	return n;
}

// A harness gets its input at the end of a page with nothing behind it, so that reading on is a crash; under a sanitizer,
// which sees more, in memory of its own.
enum { ALIGNED = 16 };

static uint8_t *room;
static size_t room_size;

static uint8_t *place(const struct slot *s) {
	size_t need = (s->length + (size_t)ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	if (need > room_size || !room) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		if (room) munmap(room, room_size + page);
		room_size = (need + (need >> 1) + page) & ~(page - 1);
		room = mmap(0, room_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED) abort();
		mprotect(room + room_size, page, PROT_NONE);
	}
	uint8_t *at = room + room_size - need;
	__builtin_memcpy(at, AT.inputs + s->offset, s->length);
	for (uint8_t *p = at + s->length; p < at + need; p++) *p = 0; // what an earlier input has left there could be read
	return at;
}

static uint64_t cpu_used(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// teasel_run is in its caller, so that the gap is next to the harness.
static inline __attribute__((always_inline)) void teasel_run(uint32_t i, int sanitized, const uint64_t *gap) {
	const struct slot *s = AT.slots + i;
	struct outcome *o = AT.outcomes + i;
	uint32_t ask = s->ask;
	uint8_t *in;
	if (ask & ASK_STACKS) leaks_stacks(LEAK_FRAMES);
	if (sanitized) {
		in = malloc(s->length ? s->length : 1);
		if (!in) abort();
		__builtin_memcpy(in, AT.inputs + s->offset, s->length);
		initialised(in, s->length);
		parameters_initialised(2);
	} else {
		in = place(s);
	}
	if (ask & ASK_OPERANDS) record_begin(o);
	running = 1;
	blocks = 0;
	uint64_t began = ask & ASK_TRACE ? cpu_used() : 0;
	o->refused = gap_run(gap, teasel_harness, in, s->length) == -1;
	exit_if_forked();
	if (ask & ASK_TRACE) o->cpu = cpu_used() - began;
	int suspected = leaks_suspected();
	if (ask & ASK_OPERANDS) record_end(o);
	if (o->refused) ask |= ASK_QUIET; // teasel does not keep it, and an input that it would keep may reach the same
	judge(i, ask);
	if (suspected) leaks_look(in, s->length);
	running = 0;
	if (sanitized) free(in);
	if (ask & ASK_STACKS) leaks_stacks(0);
}

// teasel_child runs batches until it has run enough. Counters are zero when it begins, and after every run.
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
			tell(STATUS_RENEWED);
			_exit(0);
		}
		uint32_t from = AT.control->from, n = batch_begin();
		running_here(pid);
		if (command.word == COMMAND_MUTATE) mutate_batch(from, n);
		else
			for (uint32_t i = from; i < n; i++) {
				__atomic_store_n(&AT.results->cur, i, __ATOMIC_RELAXED);
				teasel_run(i, sanitized, gap);
			}
		runs += n - from;
		if (!tell(STATUS_DONE)) {
			AT.state->leaving = LEFT_UNHEARD;
			_exit(0);
		}
		if (AT.control->most_runs && runs >= AT.control->most_runs) _exit(0);
	}
}

// waiting reports whether a command is in the pipe that nobody has taken, and ends this process if teasel is gone.
static int waiting(void) {
	struct pollfd p = {.fd = AT.first_fd + FD_COMMAND, .events = POLLIN};
	while (poll(&p, 1, 0) < 0 && errno == EINTR) {
	}
	if (p.revents & POLLIN) return 1;
	if (p.revents) _exit(0);
	return 0;
}

enum { SENDING = 10000 }; // looks at a command that is being sent

// round_taken returns the round of the last command that was taken out of the pipe.
static uint32_t round_taken(void) {
	for (int i = 0; AT.control->sent != AT.control->round && i < SENDING && !waiting(); i++) usleep(100);
	return AT.control->sent;
}

enum { IDLE_DEATHS = 16 }; // of children in a row that have not come to their first command

// teasel_serve forks children that run batches. Whatever ends one, teasel is told: what a child says of itself may have been
// overwritten, and an answer to a round that has been answered is passed over.
static _Noreturn void teasel_serve(void) {
	uint32_t idle = 0, last = 0;
	for (;;) {
		AT.state->leaving = 0;
		if (gap_expected) AT.state->return_address = gap_expected;
		pid_t p = child();
		if (p < 0) _exit(1);
		if (p == 0) teasel_child();
		struct rusage used;
		uint32_t status = await(p, &used), round = round_taken();
		if (!gap_expected && gap_plausible(AT.state->return_address)) gap_expected = AT.state->return_address;
		idle = round != last ? 0 : idle + 1;
		last = round;
		if (idle == IDLE_DEATHS) _exit(1);
		if (waiting()) continue; // for the next child
		if (!tell_of(round, AT.state->leaving == LEFT_UNHEARD ? STATUS_DONE : STATUS_DEAD, status)) _exit(0);
	}
}

// A program is forked for every input and judged when it exits.

static int program_runs;

static void program_judge_used(uint32_t i, uint64_t cpu) {
	uint32_t ask = AT.slots[i].ask;
	struct outcome *o = AT.outcomes + i;
	if (ask & ASK_TRACE) o->cpu = cpu;
	if (ask & ASK_OPERANDS) record_end(o);
	judge(i, ask);
}

static void program_judge(void) {
	if (!program_runs || AT.results->pid != getpid()) return; // a process of the program's own
	program_runs = 0;
	program_judge_used(AT.results->cur < AT.slot_count ? AT.results->cur : 0, cpu_used());
	AT.state->judged = 1;
}

// program_judge_ended is for a run that has ended without a word.
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

// program_begin makes the process what a program expects to be.
static void program_begin(void) {
	uint32_t i = AT.results->cur;
	running_here(getpid());
	AT.results->signal = 0;
	if (!input_path) dup2(AT.first_fd + FD_INPUT, 0);
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++)
		if (fd != FD_REPORT) close(AT.first_fd + fd);
	counters_share();
	atexit(program_judge);
	at_quick_exit(program_judge);
	program_runs = running = 1;
	if (AT.slots[i].ask & ASK_STACKS) leaks_stacks(LEAK_FRAMES);
	if (AT.slots[i].ask & ASK_OPERANDS) record_begin(AT.outcomes + i);
}

// program_serve returns in a child, for main to be called.
static void program_serve(void) {
	struct command command;
	while (command_read(&command)) {
		uint32_t answer = STATUS_RENEWED, status = 0;
		if (command.word == COMMAND_RUN) {
			uint32_t n = batch_begin();
			answer = STATUS_DONE;
			for (uint32_t i = AT.control->from; i < n && answer == STATUS_DONE; i++) {
				__atomic_store_n(&AT.results->cur, i, __ATOMIC_RELAXED);
				lseek(2, 0, SEEK_SET);
				if (!input_write(AT.slots + i)) _exit(1);
				AT.state->judged = 0;
				pid_t p = child();
				if (p < 0) _exit(1);
				if (p == 0) {
					program_begin();
					return;
				}
				struct rusage used = {0};
				AT.outcomes[i].status = status = await(p, &used);
				if (WIFSIGNALED(status)) answer = STATUS_DEAD;
				else if (AT.state->judged) continue;
				else if (shared_begin()) i--; // once more
				else program_judge_ended(i, &used);
			}
		}
		if (!tell_of(AT.control->round, answer, status)) break;
	}
	_exit(0);
}

// initialize runs the harness's own preparation, and looks at what handlers of signals there are when that is done.
static void initialize(int *argc, char ***argv) {
	if (&teasel_harness && teasel_initialize) {
		parameters_initialised(2);
		teasel_initialize(argc, argv);
	}
	crash_look();
}

// server_begin becomes the server and returns when teasel has laid out the memory.
static int server_begin(int *argc, char ***argv) {
	int threads = thread_count();
	respawn_prepare(*argc, *argv, threads > 1);
	guard_start();
	if (!respawning) {
		initialize(argc, argv);
		if (thread_count() > threads) respawning = 1;
	}
	struct command go;
	if (!hello() || read(AT.first_fd + FD_COMMAND, &go, sizeof go) != sizeof go) return 0;
	if (!memory_map(respawn_state())) return 0;
	// The target must not find its way to the memory through a descriptor. What begins anew needs them once more.
	for (int fd = FD_CONTROL; fd <= FD_RESULTS && !respawning; fd++) close(AT.first_fd + fd);
	if (&teasel_harness) close(AT.first_fd + FD_INPUT);
	prepare();
	AT.results->unhooked = unhook((const uint64_t *)(AT.inputs + AT.control->inputs), AT.control->count);
	if (&teasel_harness) leaks_begin();
	memory_protect();
	return tell(STATUS_RENEWED);
}

int __wrap_main(int argc, char **argv, char **envp) {
	const char *fd = getenv("TEASEL_FD"), *child = getenv("TEASEL_CHILD");
	if (!fd) {
		const char *segment = getenv("TEASEL_SEGMENT");
		if (segment) segment_attach(segment);
		sleep_cut_wanted = segment_base && !getenv("TEASEL_KEEP_SLEEP");
		return __real_main(argc, argv, envp);
	}
	AT.first_fd = atoi(fd);
	input_path = getenv("TEASEL_INPUT");
	for (int i = FD_COMMAND; i <= FD_COUNT; i++) fcntl(AT.first_fd + i, F_SETFD, FD_CLOEXEC);
	if (input_path) input_path = strdup(input_path); // the environment is the target's
	if (child) {
		child_main(&argc, &argv, atoi(child));
		return __real_main(argc, argv, envp);
	}
	unsetenv("TEASEL_FD");
	unsetenv("TEASEL_INPUT");
	if (!server_begin(&argc, &argv)) _exit(1);
	if (&teasel_harness) teasel_serve();
	program_serve();
	return __real_main(argc, argv, envp);
}
