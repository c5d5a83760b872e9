// A server that ends after so many messages, whatever they are, with the exit status in its third argument. With -DCLEAN it goes on. A message
// that begins with a zero ends it at once with status 7.
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	int left = atoi(argv[2]), status = atoi(argv[3]), one = 1;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	signal(SIGPIPE, SIG_IGN);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(s, (struct sockaddr *)&at, sizeof at) || listen(s, 64))
		return 3;
	for (;;) {
		int c = accept(s, 0, 0);
		char in[4096];
		for (ssize_t n; c >= 0 && (n = read(c, in, sizeof in)) > 0;) {
#ifndef CLEAN
			if (!in[0])
				exit(7);
			if (!--left)
				exit(status);
#endif
			const char *out = in[0] < 'I' ? "1 first\n" : in[0] < 'a' ? "2 second\n" : "3 third\n";
			if (write(c, out, strlen(out)) < 0)
				break;
		}
		close(c);
	}
}
