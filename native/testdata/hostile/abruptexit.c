// A program that ends without running exit handlers, in a way that is selected at build time. With FORK it forks a process first,
// and relies on neither process seeing what the other writes to its variables.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int mine = 1; // in the program's data, with the counters next to it
static volatile int zero;

__attribute__((unused)) static void divide(void) {
	pid_t p = fork();
	if (p == 0) {
		mine = 2;
		zero = 3;
		_exit(0);
	}
	waitpid(p, NULL, 0);
	if (mine != 1 || zero != 0) abort();
	mine = 7; // not to be seen by the next run
}

int main(void) {
	char b[8] = {0};
	size_t n = fread(b, 1, sizeof b, stdin);
#ifdef FORK
	divide();
#endif
	if (n > 0 && b[0] == 'a')
		if (b[1] == 'b')
			if (b[2] == 'c')
				if (b[3] == 'd') abort();
	END;
}
