// A tracer like afl-qemu-trace: it runs another program and contains AFL's original fork server, whose hello is 0.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int at = 1;
	while (at < argc && strcmp(argv[at], "--")) at++;
	if (at + 1 >= argc) return 2;
	uint8_t *map = shmat(atoi(getenv("__AFL_SHM_ID")), 0, 0);
	uint32_t word = 0;
	if (write(199, &word, 4) != 4) return 3;
	while (read(198, &word, 4) == 4) {
		pid_t pid = fork();
		if (pid == 0) {
			map[123] = 1;
			close(198);
			close(199);
			execv(argv[at + 1], argv + at + 1);
			_exit(127);
		}
		int status;
		word = (uint32_t)pid;
		if (write(199, &word, 4) != 4) return 4;
		waitpid(pid, &status, 0);
		word = (uint32_t)status;
		if (write(199, &word, 4) != 4) return 4;
	}
	return 0;
}
