// The main function of a harness with LibAFL, which has no limit of time, and says how many inputs it has run every fifteen seconds only.
// This one counts them, and when SIGUSR1 has come it ends the process before the next one and prints the number as libFuzzer does.
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));

#define UNSEEN __attribute__((no_sanitize("coverage"))) // no edges of ours among those of the library

static unsigned long long executions;
static volatile sig_atomic_t over;

UNSEEN static void end(int number) { over = number; }

UNSEEN static int counted(const uint8_t *data, size_t size) {
	if (over) {
		printf("\nstat::number_of_executed_units: %llu\n", executions);
		fflush(stdout);
		_exit(0);
	}
	executions++;
	return LLVMFuzzerTestOneInput(data, size);
}

UNSEEN int main(int argc, char **argv) {
	signal(SIGUSR1, end);
	return LLVMFuzzerRunDriver(&argc, &argv, counted);
}
