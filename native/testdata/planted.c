// One bug of each class, selected by the first byte; with -DCLEAN the same program without bugs.
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CLEAN
#define BUG(condition) 0
#else
#define BUG(condition) (condition)
#endif

#define ALONE __attribute__((noinline))

static volatile unsigned sink;
static volatile int global[4];
static volatile int zero;

ALONE static void null_read(const uint8_t *d) { if (BUG(d[1] == 'x')) sink = *(volatile int *)8; }
ALONE static void wild_write(const uint8_t *d) { if (BUG(d[1] == 'x')) *(volatile int *)0x123456789000 = 1; }
ALONE static void wild_jump(const uint8_t *d) { if (BUG(d[1] == 'x')) ((void (*)(void))0x41414141000)(); }
ALONE static void divide(const uint8_t *d) { sink = 100 / (BUG(d[1] == 'x') ? zero : 3); }
ALONE static void trap(const uint8_t *d) { if (BUG(d[1] == 'x')) __builtin_trap(); }
ALONE static void breakpoint(const uint8_t *d) { if (BUG(d[1] == 'x')) __builtin_debugtrap(); }
ALONE static void assertion(const uint8_t *d) { assert(!BUG(d[1] == 'x')); }
ALONE static void leave(const uint8_t *d) { if (BUG(d[1] == 'x')) exit(3); }
ALONE static void hang(const uint8_t *d) { while (BUG(d[1] == 'x')) sink ^= 1; }

ALONE static void double_free(const uint8_t *d) {
	char *p = malloc(40);
	char *volatile q = p;
	free(p);
	if (BUG(d[1] == 'x')) free(q);
}

ALONE static int recurse(const uint8_t *d, volatile int depth) {
	volatile char room[1024];
	room[depth & 1023] = (char)depth;
	if (!BUG(d[1] == 'x') && depth > 10) return 0;
	return recurse(d, depth + 1) + room[0];
}

ALONE static void heap_write(const uint8_t *d) {
	char *p = malloc(8);
	p[BUG(d[1] == 'x') ? 8 : 7] = 1;
	sink = p[0];
	free(p);
}

ALONE static void stack_write(const uint8_t *d) {
	volatile char room[8];
	volatile int at = BUG(d[1] == 'x') ? 9 : 7;
	room[at] = 1;
	sink = room[0];
}

ALONE static void global_read(const uint8_t *d) {
	volatile int at = BUG(d[1] == 'x') ? 4 : 3;
	sink = global[at];
}

ALONE static void use_after_free(const uint8_t *d) {
	char *volatile p = malloc(8);
	p[0] = 1;
	if (BUG(d[1] == 'x')) free(p);
	sink = p[0];
	if (!BUG(d[1] == 'x')) free(p);
}

ALONE static void overflow(const uint8_t *d) {
	volatile int n = 0x7fffffff;
	n += BUG(d[1] == 'x') ? 1 : 0;
	sink = n;
}

ALONE static void memory(const uint8_t *d) {
	for (size_t i = 0; BUG(d[1] == 'x') && i < 1 << 12; i++) {
		char *volatile p = malloc(1 << 20);
		if (p) memset(p, 1, 1 << 20);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 3) return 0;
	switch (d[0]) {
	case 'n': null_read(d); break;
	case 'w': wild_write(d); break;
	case 'j': wild_jump(d); break;
	case 'd': divide(d); break;
	case 't': trap(d); break;
	case 'b': breakpoint(d); break;
	case 'a': assertion(d); break;
	case 'e': leave(d); break;
	case 'h': hang(d); break;
	case '2': double_free(d); break;
	case 'r': recurse(d, 0); break;
	case 'm': memory(d); break;
#ifdef SANITIZED
	case 'H': heap_write(d); break;
	case 'S': stack_write(d); break;
	case 'G': global_read(d); break;
	case 'U': use_after_free(d); break;
	case 'O': overflow(d); break;
#endif
	}
	return 0;
}
