// The runtime that teasel links into a target. Run by hand it does nothing but call main. Under teasel it starts three
// processes: a guardian, which kills all that is left when teasel is gone; the server, which forks; and the child, which
// runs a batch of inputs for every command and judges by itself which of them are news.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "gap.h"
#include "layout.h"

static struct header *header; // of which another server writes the same fields, when it is its turn
static uint32_t *leaving;     // of our child: 1: it goes to make room for the next, 2: for good
static uint32_t *taken;       // by our child: 0: no command so far, 1: one that it has not answered, 2: none that it has not
static struct slot *slots;
static const uint8_t *memory;
static int first_fd;

#include "counters.h"
#include "operands.h"
#include "crash.h"
#include "unhook.h"
#include "input.h"

// Defined in teasel_main.c, if the target is a harness.
extern int (*const teasel_harness)(const uint8_t *, size_t) __attribute__((weak));
extern int (*const teasel_initialize)(int *, char ***) __attribute__((weak));
int __real_main(int argc, char **argv, char **envp);
int mallopt(int what, int value) __attribute__((weak)); // of glibc

static volatile uint32_t *mine; // 1 in the child that runs batches, 0 in what the target forks from it

// mine_begin makes a page that the kernel clears in a process that is forked. Before Linux 4.14 it does not.
static void mine_begin(void) {
	void *p = mmap(0, sizeof *mine, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) _exit(1);
	madvise(p, sizeof *mine, MADV_WIPEONFORK);
	mine = p;
}

// mine_only ends what the harness has forked and has returned as well: it has no business with the rest of the batch.
static inline void mine_only(void) {
	if (!*mine) _exit(0);
}

#include "leak.h"
#include "custom.h"

static int word_read(int fd, uint32_t *w) {
	for (;;) {
		ssize_t n = read(first_fd + fd, w, sizeof *w);
		if (n == sizeof *w) return 1;
		if (n >= 0 || errno != EINTR) return 0;
	}
}

static int all_write(int fd, const void *p, size_t n) {
	for (;;) {
		ssize_t m = write(first_fd + fd, p, n);
		if (m == (ssize_t)n) return 1;
		if (m >= 0 || errno != EINTR) return 0;
	}
}

static int tell(uint32_t w) { return all_write(FD_STATUS, &w, sizeof w); }

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
		if (fd != FD_LIFE) close(first_fd + fd);
	char word;
	ssize_t n;
	while ((n = read(first_fd + FD_LIFE, &word, 1)) < 0 && errno == EINTR) {
	}
	kill(-server, SIGKILL);
	kill(server, SIGKILL);
	orphans_kill();
	if (input_path && n == 0) input_remove();
	_exit(0);
}

// attach maps the memory that teasel has laid out after our hello.
static int attach(void) {
	struct hello h = {.magic = TEASEL_MAGIC, .version = TEASEL_VERSION, .counters = counter_count, .modules = region_count, .pid = (uint32_t)getpid(),
	                  .edges = edge_count, .shape = shape};
	h.flags = (&teasel_harness ? HELLO_HARNESS : 0) | (__asan_init ? HELLO_ASAN : 0) | (__msan_init ? HELLO_MSAN : 0) |
	          (__tsan_init ? HELLO_TSAN : 0) | (__ubsan_handle_builtin_unreachable ? HELLO_UBSAN : 0) | custom_flags();
	uint32_t go;
	struct stat st;
	if (!all_write(FD_STATUS, &h, sizeof h) || !word_read(FD_COMMAND, &go)) return 0;
	if (fstat(first_fd + FD_MEMORY, &st)) return 0;
	uint8_t *m = mmap(0, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, first_fd + FD_MEMORY, 0);
	if (m == MAP_FAILED) return 0;
	memory = m;
	header = (struct header *)m;
	slots = (struct slot *)(m + header->slots);
	virgin = m + header->virgin;
	bar = (uint16_t *)(m + header->bar);
	shortest = (uint16_t *)(m + header->shortest);
	features = (uint32_t *)(m + header->features);
	operands = (struct operand *)(m + header->operands);
	watched = m + header->watched;
	mutations = (struct mutation *)(m + header->mutations);
	leaving = mmap(0, 4 * sizeof *leaving + sizeof *gap_return, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (leaving == MAP_FAILED) return 0;
	taken = leaving + 2;
	gap_return = (uint64_t *)(leaving + 4);
	buckets_init();
	header->unhooked = unhook((const uint64_t *)(m + header->inputs), header->count);
	return tell(STATUS_RENEWED);
}

// start becomes the server and returns, or never.
static void start(void) {
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++) fcntl(first_fd + fd, F_SETFD, FD_CLOEXEC);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t guardian = getpid(), server = fork();
	if (server < 0) _exit(1);
	if (server > 0) guard(server);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guardian) _exit(1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close(first_fd + FD_LIFE);
}

// here says whom to kill. Only who is running a batch may say so: another server's child may be starting.
static void here(pid_t p) { __atomic_store_n(&header->pid, p, __ATOMIC_RELAXED); }

static pid_t child(void) {
	pid_t server = getpid(), p = fork();
	if (p == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != server) _exit(0);
		crash_watch();
		// A sanitizer closes a file that another process has named, so each child names it.
		if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)(first_fd + FD_REPORT));
	}
	return p;
}

// await returns how a child ended.
static uint32_t await(pid_t p) {
	int status = 0;
	while (waitpid(p, &status, 0) < 0 && errno == EINTR) {
	}
	__atomic_compare_exchange_n(&header->pid, &(int32_t){p}, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	orphans_kill();
	return (uint32_t)status;
}

// batch_begin returns the end of the batch that the command is about.
static uint32_t batch_begin(void) {
	lseek(2, 0, SEEK_SET);
	lseek(first_fd + FD_REPORT, 0, SEEK_SET);
	header->features_used = header->operands_used = header->signal = header->frame_count = header->samples = header->looking = 0;
	__atomic_add_fetch(&header->round, 1, __ATOMIC_RELAXED);
	uint32_t n = header->count < header->slot_count ? header->count : header->slot_count;
	for (uint32_t i = header->from; i < n; i++) slots[i].feature_count = slots[i].operand_count = slots[i].status = slots[i].refused = 0;
	return n;
}

// A harness gets its input at the end of a page with nothing behind it, so that reading on is a crash; under a sanitizer,
// which sees more, in memory of its own.
enum { PAGE = 4096, ALIGNED = 16 };

static uint8_t *room;
static size_t room_size;

static uint8_t *place(const struct slot *s) {
	size_t need = (s->length + (size_t)ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	if (need > room_size || !room) {
		if (room) munmap(room, room_size + PAGE);
		room_size = (need + (need >> 1) + PAGE) & ~(size_t)(PAGE - 1);
		room = mmap(0, room_size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED) abort();
		mprotect(room + room_size, PAGE, PROT_NONE);
	}
	uint8_t *at = room + room_size - need;
	__builtin_memcpy(at, memory + s->offset, s->length);
	return at;
}

// heap_keep has the allocator keep what a run has freed for the next one: to give it back to the kernel and to get it again,
// page by page, takes longer than most runs.
static void heap_keep(void) {
	enum { TRIM_THRESHOLD = -1, MMAP_THRESHOLD = -3 }; // as in malloc.h
	if (!mallopt) return;
	mallopt(MMAP_THRESHOLD, 4 << 20);
	mallopt(TRIM_THRESHOLD, 16 << 20);
}

static uint64_t cpu_used(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// teasel_run is in its caller, so that the gap is next to the harness.
static inline __attribute__((always_inline)) void teasel_run(struct slot *s, int sanitized, const uint64_t *gap) {
	uint8_t *in;
	if (sanitized) {
		in = malloc(s->length ? s->length : 1);
		if (!in) abort();
		__builtin_memcpy(in, memory + s->offset, s->length);
	} else {
		in = place(s);
	}
	if (s->ask & ASK_OPERANDS) record_begin(s);
	running = 1;
	blocks = 0;
	uint64_t began = s->ask & ASK_TRACE ? cpu_used() : 0;
	s->refused = gap_run(gap, teasel_harness, in, s->length) == -1;
	mine_only();
	if (s->ask & ASK_TRACE) s->cpu = cpu_used() - began;
	int suspected = leaks_suspected();
	if (s->ask & ASK_OPERANDS) record_end(s);
	if (s->refused) s->ask |= ASK_QUIET; // teasel does not keep it, and what it reaches is still news of an input that it would
	judge(s);
	if (suspected) leaks_look(in, s->length);
	running = 0;
	if (sanitized) free(in);
}

// teasel_child runs batches until it has run enough. Counters are zero when it begins, and after every run.
static _Noreturn void teasel_child(void) {
	int sanitized = __asan_init || __msan_init;
	uint32_t runs = 0, command;
	pid_t pid = getpid();
	uint64_t *gap = __builtin_alloca(gap_size);
	gap_begin(gap);
	*mine = 1;
	while (word_read(FD_COMMAND, &command)) {
		*taken = 1;
		if (command == COMMAND_RENEW) {
			*leaving = 1;
			tell(STATUS_RENEWED);
			_exit(0);
		}
		uint32_t n = batch_begin();
		here(pid);
		if (command == COMMAND_MUTATE) mutate_batch(n);
		else
			for (uint32_t i = header->from; i < n; i++) {
				__atomic_store_n(&header->cur, i, __ATOMIC_RELAXED);
				teasel_run(slots + i, sanitized, gap);
			}
		runs += n - header->from;
		*leaving = header->most_runs && runs >= header->most_runs;
		*taken = 2;
		if (!tell(STATUS_DONE) || *leaving) _exit(0);
	}
	*leaving = 2;
	_exit(0);
}

enum { IDLE_DEATHS = 16 }; // of children in a row that have not come to their first command

static _Noreturn void teasel_serve(void) {
	uint32_t idle = 0;
	leaks_begin(leaving + 1);
	counters_clear();
	heap_keep();
	mine_begin();
	for (;;) {
		*leaving = *taken = 0;
		pid_t p = child();
		if (p < 0) _exit(1);
		if (p == 0) teasel_child();
		uint32_t status = await(p);
		if (*leaving == 1) continue;
		if (*leaving == 2) _exit(0);
		idle = *taken ? 0 : idle + 1;
		if (idle == IDLE_DEATHS) _exit(1);
		if (*taken != 1) continue; // a thread has ended it, or a timer: an answer would be taken for that to the next command
		header->status = status;
		if (!tell(STATUS_DEAD)) _exit(0);
	}
}

// A program is forked for every input and judged when it exits.

static int program_runs;

static void program_judge(void) {
	if (!program_runs || header->pid != getpid()) return; // a process of the program's own
	program_runs = 0;
	struct slot *s = slots + header->cur;
	if (s->ask & ASK_TRACE) s->cpu = cpu_used();
	if (s->ask & ASK_OPERANDS) record_end(s);
	judge(s);
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

// program_begin makes the forked process what a program expects to be.
static void program_begin(struct slot *s) {
	here(getpid());
	header->signal = 0;
	if (!input_path) dup2(first_fd + FD_INPUT, 0);
	for (int fd = FD_COMMAND; fd < FD_COUNT; fd++)
		if (fd != FD_REPORT) close(first_fd + fd);
	atexit(program_judge);
	program_runs = running = 1;
	if (s->ask & ASK_OPERANDS) record_begin(s);
}

// program_serve returns in a child, for main to be called.
static void program_serve(void) {
	uint32_t command;
	counters_clear();
	while (word_read(FD_COMMAND, &command)) {
		uint32_t answer = STATUS_RENEWED;
		if (command == COMMAND_RUN) {
			uint32_t n = batch_begin();
			answer = STATUS_DONE;
			for (uint32_t i = header->from; i < n && answer == STATUS_DONE; i++) {
				__atomic_store_n(&header->cur, i, __ATOMIC_RELAXED);
				lseek(2, 0, SEEK_SET);
				if (!input_write(slots + i)) _exit(1);
				pid_t p = child();
				if (p < 0) _exit(1);
				if (p == 0) {
					program_begin(slots + i);
					return;
				}
				header->status = slots[i].status = await(p);
				if (WIFSIGNALED(header->status)) answer = STATUS_DEAD;
			}
		}
		if (!tell(answer)) break;
	}
	_exit(0);
}

int __wrap_main(int argc, char **argv, char **envp) {
	const char *fd = getenv("TEASEL_FD");
	if (!fd) return __real_main(argc, argv, envp);
	first_fd = atoi(fd);
	input_path = getenv("TEASEL_INPUT");
	start();
	unsetenv("TEASEL_FD");
	unsetenv("TEASEL_INPUT");
	int harness = &teasel_harness != 0;
	if (harness && teasel_initialize) teasel_initialize(&argc, &argv);
	crash_look();
	if (!attach()) _exit(1);
	if (harness) teasel_serve();
	program_serve();
	return __real_main(argc, argv, envp);
}
