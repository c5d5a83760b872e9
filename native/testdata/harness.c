// Bugs for programs built by AFL++: with -DSTDIN the input is read from standard input or a file, otherwise in a persistent loop from
// shared memory. Each bug is triggered by three bytes. -DCLEAN: the same program without bugs.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int volatile sink;
static int *volatile nowhere;

#ifdef CLEAN
#define BUG(x) sink++
#else
#define BUG(x) x
#endif

static __attribute__((noinline)) void overflow(int n) {
	char *p = malloc(8);
	memset(p, 1, 8);
	p[n] = 2;
	sink += p[3];
	free(p);
}

static __attribute__((noinline)) void check(const unsigned char *b, long n) {
	if (n < 3) return;
	if (b[0] == 'b') {
		sink++;
		if (b[1] == 'a') {
			sink++;
			if (b[2] == 'd') BUG(abort());
		}
	}
	if (b[0] == 'n') {
		sink += 2;
		if (b[1] == 'u') {
			sink += 3;
			if (b[2] == 'l') BUG(*nowhere = 1);
		}
	}
	if (b[0] == 'o') {
		sink += 4;
		if (b[1] == 'v') BUG(overflow(n < 100 ? 8 : 9));
	}
}

#ifdef STDIN
int main(int argc, char **argv) {
	unsigned char b[4096];
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
	if (fd < 0) return 2;
	long n = read(fd, b, sizeof b);
	check(b, n);
	return 0;
}
#else
__AFL_FUZZ_INIT();
int main(void) {
	__AFL_INIT();
	const unsigned char *b = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(1000)) check(b, __AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
#endif
