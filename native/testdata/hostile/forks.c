// Each input leaves a process behind, in a session of its own.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (fork() == 0) {
		setsid();
		sleep(30);
		_exit(0);
	}
	if (n > 1 && d[0] == 'k') abort();
	return 0;
}
