// A server that deals out its clients in turn to threads that have one at a time: two, or as many as the second argument says. The line
// "lock" has the thread that reads it wait for a lock that it holds, so that each second client is never answered again, unless the server was
// built with -DCLEAN. The line "shut" does nothing with the client that sends it.
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int queues[16][2];

static void *serve(void *queue) {
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	for (int fd; read(((int *)queue)[0], &fd, sizeof fd) == sizeof fd;) {
		char line[64];
		for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
			if (n >= 4 && !memcmp(line, "shut", 4)) continue;
			pthread_mutex_lock(&lock);
#ifndef CLEAN
			if (n >= 4 && !memcmp(line, "lock", 4)) continue;
#endif
			pthread_mutex_unlock(&lock);
			(void)!write(fd, "200 ok\r\n", 8);
		}
		close(fd);
	}
	return 0;
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1, threads = argc > 2 ? atoi(argv[2]) : 2;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (threads < 1 || threads > 16 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < threads; i++) {
		pthread_t thread;
		if (pipe(queues[i]) || pthread_create(&thread, 0, serve, queues[i])) return 1;
	}
	for (int i = 0;; i = (i + 1) % threads) {
		int fd = accept(listener, 0, 0);
		if (write(queues[i][1], &fd, sizeof fd) != sizeof fd) return 1;
	}
}
