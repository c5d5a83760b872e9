// A server that sleeps for an hour before it answers each line. For the line "pace" it starts a thread that sleeps more often
// before it answers, as one does that keeps the pace of something.
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void *pace(void *arg) {
	for (int i = 0; i < 17; i++) sleep(3600);
	(void)!write(*(int *)arg, "late\n", 5);
	return 0;
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int fd = accept(listener, 0, 0);
		char line[64];
		for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
			pthread_t thread;
			if (n >= 4 && !memcmp(line, "pace", 4)) {
				pthread_create(&thread, 0, pace, &fd);
				pthread_join(thread, 0);
				continue;
			}
			usleep(999999);
			sleep(3600);
			nanosleep(&(struct timespec){.tv_sec = 3600}, 0);
			(void)!write(fd, "wrong\n", 6);
		}
		close(fd);
	}
}
