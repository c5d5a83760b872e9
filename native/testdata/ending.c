// Ends in several ways, selected by the first byte of the input, without a readable stack.
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void first(int c) { assert(c != 'a'); }
static void second(int c) { assert(c != 'b'); }

// Output of the libraries of Rust and Go.
static void rust(int line) {
	fprintf(stderr, "\nthread 'main' (7) panicked at src/main.rs:%d:5:\nindex out of bounds: the len is 3 but the index is 5\n", line);
	exit(101);
}

static void go(int line) {
	fprintf(stderr, "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:%d +0x1d\nexit status 2\n", line);
	exit(2);
}

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
	case '1': rust(3); break;
	case '2': rust(9); break;
	case '3': go(4); break;
	case '4': go(8); break;
	}
	return 0;
}
