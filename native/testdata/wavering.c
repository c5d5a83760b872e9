// A program that takes random branches, like one with randomly seeded hash tables, and that crashes for three inputs, always at the
// same place each. The third input reaches only edges that the first also reaches.
#include <fcntl.h>
#include <unistd.h>

static volatile int sink, *const places[] = {&sink, (volatile int *)24};

static void waver(unsigned char c) {
	if (c & 1) sink += 1;
	if (c & 2) sink += 2;
	if (c & 4) sink *= 3;
	if (c & 8) sink ^= 3;
	if (c & 16) sink -= 3;
	if (c & 32) sink += 9;
	if (c & 64) sink += 8;
	if (c & 128) sink ^= 16;
	if (c == 77) sink ^= 5; // seldom
}

int main(void) {
	char b[64] = {0};
	long n = read(0, b, sizeof b - 1);
	unsigned char c = 0;
#ifndef STEADY
	int f = open("/dev/urandom", O_RDONLY);
	if (f < 0 || read(f, &c, 1) != 1) return 9;
	close(f);
#endif
	waver(c);
	if (n > 3 && b[0] == 'A') {
		sink++;
		if (b[1] == 'B') {
			*places[b[2] == '!'] = 1; // no branch
			if (b[2] == 'C') {
				sink++;
				if (b[3] == 'D') *(volatile int *)8 = 1;
			}
		}
	}
	if (n > 3 && b[0] == 'w') {
		sink--;
		if (b[1] == 'x' && b[2] == 'y' && b[3] == 'z') *(volatile int *)16 = 1;
	}
	return 0;
}
