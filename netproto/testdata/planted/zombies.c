/* A server that forks for each connection and never waits for what it has forked. */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(s, (struct sockaddr *)&a, sizeof a) < 0 || listen(s, 50) < 0)
		return 1;
	for (;;) {
		int c = accept(s, NULL, NULL);
		if (fork() == 0) {
			char b[1000];
			while (read(c, b, sizeof b) > 0)
				write(c, "ok\n", 3);
			_exit(0);
		}
		close(c);
	}
}
