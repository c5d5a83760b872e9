// Faults of a program that nothing was built into to report them, one for each first byte of the input.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
#define FUNCTION static __attribute__((noinline))

FUNCTION void null_write(int *volatile p) { *p = 1; sink++; }
FUNCTION void wild_read(int *volatile p) { sink += *p; }
FUNCTION int divide(volatile int by) { return 7 / by; }
FUNCTION void give_up(void) { abort(); }
FUNCTION int deep(int n) { volatile char room[512]; room[n % 512] = 1; return deep(n + 1) + room[0]; }
FUNCTION void jump(void (*volatile f)(void)) { f(); sink++; }
FUNCTION void copy(char *volatile to, const char *from) { memcpy(to, from, 4000); sink++; }
FUNCTION void fill(char *to, long n) { for (volatile long i = 0; i < n; i++) to[i] = 'A'; }
FUNCTION void smash(long n) { char small[8]; fill(small, n); sink += small[3]; }
static void *in_thread(void *p) { null_write(p); return p; }
FUNCTION void thread(void) { pthread_t t; pthread_create(&t, 0, in_thread, 0); pthread_join(t, 0); }
static void handler(int s) { write(2, "handled\n", 8); signal(s, SIG_DFL); raise(s); }
static char block[4096];

int main(void) {
	char b[64] = {0};
	if (read(0, b, sizeof b - 1) < 1) return 0;
	for (int i = 1; i < b[1] % 8; i++) sink += b[i]; // leaves return addresses and values behind
	switch (b[0]) {
	case 'n': null_write(0); break;
	case 'w': wild_read((int *)0x123456789000); break;
	case 'd': return divide(0);
	case 'a': give_up(); break;
	case 'r': return deep(0);
	case 'j': jump(0); break;
	case 'J': jump((void (*)(void))0x123456789000); break;
	case 'c': copy((char *)16, block); break;
	case 's': smash(100); break;
	case 't': thread(); break;
	case 'o': // every other time
		if (unlink("odd") == 0) return 0;
		close(open("odd", O_CREAT | O_WRONLY, 0600));
		null_write(0);
		break;
	case 'h': signal(SIGSEGV, handler); null_write(0); break;
	case 'H': signal(SIGABRT, handler); give_up(); break;
	}
	return 0;
}
