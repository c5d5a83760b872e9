// A server with a thread for each client. It answers "hello" to everybody. "sum" and "post A B" take a lock, which a post of an account to
// itself keeps, unless the server was built with -DCLEAN: those who post or sum from then on are never answered. "wait" has no answer, as is right.
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *answer(const char *line) {
	char from, to;
	if (!strcmp(line, "hello")) return "200 hello\n";
	if (!strncmp(line, "sum", 3)) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		return "200 0\n";
	}
	if (!strcmp(line, "wait")) return "";
	if (sscanf(line, "post %c %c", &from, &to) != 2) return "500 what\n";
	pthread_mutex_lock(&lock);
#ifndef CLEAN
	if (from == to) return "409 the same\n";
#endif
	pthread_mutex_unlock(&lock);
	return "200 done\n";
}

static void *serve(void *arg) {
	int fd = (int)(intptr_t)arg;
	FILE *in = fdopen(fd, "r");
	for (char line[64]; fgets(line, sizeof line, in);) {
		line[strcspn(line, "\r\n")] = 0;
		const char *text = answer(line);
		(void)!write(fd, text, strlen(text));
	}
	fclose(in);
	return 0;
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		pthread_t thread;
		if (pthread_create(&thread, 0, serve, (void *)(intptr_t)accept(listener, 0, 0))) return 1;
		pthread_detach(thread);
	}
}
