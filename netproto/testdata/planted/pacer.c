// A server with a thread that does nothing but sleep, as for a timer, ten seconds at a time or, with a second argument, a millisecond.
// The line "sleep" is answered with nothing after a tenth of a second, and "late" with a word.
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void *pace(void *brief) {
	struct timespec t = {.tv_sec = brief ? 0 : 10, .tv_nsec = brief ? 1000 * 1000 : 0};
	for (;;) nanosleep(&t, 0);
	return 0;
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	pthread_t thread;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) return 1;
	signal(SIGPIPE, SIG_IGN);
	if (argc < 4) pthread_create(&thread, 0, pace, argc > 2 ? "brief" : 0);
	for (;;) {
		int fd = accept(listener, 0, 0);
		char line[64];
		for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
			if (n >= 4 && (!memcmp(line, "slee", 4) || !memcmp(line, "late", 4))) nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, 0);
			if (memcmp(line, "slee", 4)) (void)!write(fd, "ok\n", 3);
		}
		close(fd);
	}
}
