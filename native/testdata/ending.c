// Ends in several ways by the first byte of its input, without a stack that anybody could read.
#include <assert.h>
#include <signal.h>
#include <stdio.h>

static void first(int c) { assert(c != 'a'); }
static void second(int c) { assert(c != 'b'); }

int main(void) {
	int c = getchar();
	first(c);
	second(c);
	switch (c) {
	case 't': raise(SIGTERM); break;
	case 'p': raise(SIGPIPE); break;
	case 'x': raise(SIGXCPU); break;
	case 'k': raise(SIGKILL); break;
	case 'r': raise(SIGRTMIN + 1); break;
	}
	return 0;
}
