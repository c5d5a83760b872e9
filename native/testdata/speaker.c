// A target that implements the fork server protocol of AFL++ 4.20c and later itself, for machines with an older AFL++: it sends the
// size of its map, reads inputs from shared memory, and has a dictionary. With -DMAP=N the map has N bytes; with -DREFUSE it reports an
// error until the map fits; with -DLOOPS a child stops itself after each input.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MAP
#define MAP 1000
#endif
enum { CONTROL = 198, STATUS = 199 };
static const uint32_t version = 0x41464c01;
static uint8_t *map;
static const uint8_t *input;
static volatile uint32_t *before; // what earlier runs have left: the length of the last 'f', and how many 'm' there were
#ifdef LOOPS
__attribute__((used)) static const char signature[] = "##SIG_AFL_PERSISTENT##";
#endif

static void say(uint32_t w) {
	if (write(STATUS, &w, 4) != 4) _exit(1);
}

static uint32_t hear(void) {
	uint32_t w;
	if (read(CONTROL, &w, 4) != 4) _exit(0);
	return w;
}

static void *attach(const char *name) {
	const char *id = getenv(name);
	if (!id) exit(5);
	void *p = shmat(atoi(id), 0, 0);
	if (p == (void *)-1) _exit(3);
	return p;
}

static void greet(void) {
	static const char dictionary[] = "\3abc\2xy";
	say(version);
	if (hear() != ~version) _exit(2);
#ifdef REFUSE
	if (atoi(getenv("AFL_MAP_SIZE")) < MAP) {
		say(0xeffe0001);
		_exit(1);
	}
#endif
	say(1 | 2 | 0x800);
	say(MAP);
	say(sizeof dictionary - 1);
	if (write(STATUS, dictionary, sizeof dictionary - 1) != sizeof dictionary - 1) _exit(1);
	say(version);
}

static void run(void) {
	uint32_t n = *(const uint32_t *)input;
	const char *p = (const char *)input + 4;
	map[0] = 1;
	map[MAP - 1] = 1;
	if (n > 0 && p[0] == 'b') {
		map[10] = 200;
		if (n > 1 && p[1] == 'a') {
			map[20] = 5;
			if (n > 2 && p[2] == 'd') {
				map[30] = 1;
				abort();
			}
		}
	}
	static int again;
	if (n > 0 && p[0] == 'c' && again++) map[40] = 1;
	if (n > 0 && p[0] == 'f' && before[0] != n) map[50] = 1; // in one run, and not if it is repeated
	if (n > 0 && p[0] == 'f') before[0] = n;
	if (n > 0 && p[0] == 'm') map[60] = 1; // and its second run dies
	if (n > 0 && p[0] == 'm' && before[1]++) abort();
	if (n > 0 && p[0] == 'k') kill(getppid(), SIGKILL), sleep(5);
	if (n > 0 && p[0] == 's') kill(getppid(), SIGSTOP);
	if (n > 0 && ((p[0] == 'h' && n == 1) || p[0] == 'i')) {
		signal(SIGTERM, SIG_IGN);
		for (;;) pause();
	}
}

static void child(void) {
	close(CONTROL);
	close(STATUS);
#ifdef LOOPS
	for (int i = 0; i < 100; i++) {
		run();
		raise(SIGSTOP);
	}
#else
	run();
#endif
	_exit(0);
}

int main(void) {
	map = attach("__AFL_SHM_ID");
	input = attach("__AFL_SHM_FUZZ_ID");
	before = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (before == MAP_FAILED) return 4;
	greet();
	pid_t pid = 0;
	int stopped = 0;
	for (;;) {
		uint32_t killed = hear();
		int status;
		if (stopped && killed) {
			waitpid(pid, &status, 0);
			stopped = 0;
		}
		if (stopped)
			kill(pid, SIGCONT);
		else if ((pid = fork()) == 0)
			child();
		say((uint32_t)pid);
		waitpid(pid, &status, WUNTRACED);
		stopped = WIFSTOPPED(status);
		say((uint32_t)status);
	}
}
