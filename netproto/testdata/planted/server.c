// A server with planted bugs, for TCP. Messages have a header of four bytes: 'T', the type, and the length of what follows, big
// endian; the last two bytes of what follows are a checksum. Built with -DCLEAN it has the same protocol and no bug.
//
//   hello    1  name                       -> 'S' 1 and a token of four bytes, different on each connection
//   login    2  token                      -> 'S' 2, if the token is right; 'S' 0xff otherwise
//   put      3  slot, length, bytes        -> 'S' 3, after login
//   get      4  slot                       -> 'S' 4 and the bytes, after login
//   list     5                             -> 'S' 5, after login
//   notice   6  what only a server sends   -> nothing: a client that sends it is disregarded
//   note     7  text                       -> 'S' 7
//   wait     8  count                      -> 'S' 8
//
// The bugs: STATE, list after put without get in between; LENGTH, put with a length beyond what came; CHECKSUM, a note that
// begins with "!!", which is only looked at if the checksum is right; TOKEN, login with the right token and something
// behind it; OTHER, a notice from a client; LEAK, each note is kept for ever; HANG, wait for 255.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef CLEAN
#define BUG(x) 0
#else
#define BUG(x) (x)
#endif

struct client {
	int fd;
	uint32_t token;
	int greeted, logged_in, put, got;
	size_t have;
	unsigned char in[70000];
	unsigned char slots[4][64];
	size_t sizes[4];
};

static struct client *clients[64];
static uint32_t serial;
char *kept;

static __attribute__((noinline)) void die_state(void) { abort(); }
static __attribute__((noinline)) void die_length(void) { raise(SIGSEGV); }
static __attribute__((noinline)) void die_checksum(void) { raise(SIGILL); }
static __attribute__((noinline)) void die_token(void) { raise(SIGFPE); }
static __attribute__((noinline)) void die_other(void) { raise(SIGBUS); }

static uint16_t checksum(const unsigned char *p, size_t n) {
	uint32_t sum = 0;
	for (size_t i = 0; i < n; i++) sum += p[i];
	return (uint16_t)sum;
}

static void answer(struct client *c, unsigned char type, const void *data, size_t n) {
	unsigned char out[80] = {'S', type, 0, (unsigned char)n};
	memcpy(out + 4, data, n);
	if (write(c->fd, out, 4 + n) < 0 && errno != EPIPE && errno != ECONNRESET) perror("write");
}

static void put(struct client *c, const unsigned char *p, size_t n) {
	if (n < 2 || p[0] >= 4) return answer(c, 0xff, "", 0);
	size_t length = p[1];
	if (length > n - 2) {
		if (BUG(length > 200)) die_length();
		return answer(c, 0xff, "", 0);
	}
	if (length > 64) length = 64;
	memcpy(c->slots[p[0]], p + 2, length);
	c->sizes[p[0]] = length;
	c->put = 1;
	c->got = 0;
	answer(c, 3, "", 0);
}

static void note(struct client *c, const unsigned char *p, size_t n) {
	if (BUG(n >= 2 && p[0] == '!' && p[1] == '!')) die_checksum();
	if (BUG(1)) {
		char **more = malloc(4096); // used by nobody, but the compiler is not to know that
		memset(more, 1, 4096);
		*more = kept;
		kept = (char *)more;
	}
	answer(c, 7, "", 0);
}

static void message(struct client *c, unsigned char type, const unsigned char *p, size_t n) {
	if (n < 2 || checksum(p, n - 2) != (p[n - 2] << 8 | p[n - 1])) return answer(c, 0xfe, "", 0);
	n -= 2;
	switch (type) {
	case 1:
		c->greeted = 1;
		return answer(c, 1, &c->token, 4);
	case 2:
		if (!c->greeted || n < 4 || memcmp(p, &c->token, 4)) return answer(c, 0xff, "", 0);
		if (BUG(n > 4)) die_token();
		c->logged_in = 1;
		return answer(c, 2, "", 0);
	case 3:
		return c->logged_in ? put(c, p, n) : answer(c, 0xff, "", 0);
	case 4:
		if (!c->logged_in || n < 1 || p[0] >= 4) return answer(c, 0xff, "", 0);
		c->got = 1;
		return answer(c, 4, c->slots[p[0]], c->sizes[p[0]]);
	case 5:
		if (!c->logged_in) return answer(c, 0xff, "", 0);
		if (BUG(c->put && !c->got)) die_state();
		return answer(c, 5, "", 0);
	case 6:
		if (BUG(n > 0)) die_other();
		return;
	case 7:
		return note(c, p, n);
	case 8:
		if (n < 1) return answer(c, 0xff, "", 0);
		if (BUG(p[0] == 255))
			for (volatile int i = 0;; i++) {
			}
		return answer(c, 8, "", 0);
	}
	answer(c, 0xff, "", 0);
}

// take returns 0 if the client is to be let go.
static int take(struct client *c) {
	ssize_t got = read(c->fd, c->in + c->have, sizeof c->in - c->have);
	if (got <= 0) return 0;
	c->have += (size_t)got;
	while (c->have >= 4) {
		size_t n = (size_t)c->in[2] << 8 | c->in[3];
		if (c->in[0] != 'T') return 0;
		if (c->have < 4 + n) break;
		message(c, c->in[1], c->in + 4, n);
		memmove(c->in, c->in + 4 + n, c->have -= 4 + n);
	}
	return 1;
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) {
		perror("planted");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct pollfd fds[65] = {{.fd = listener, .events = POLLIN}};
		int at_client[65], n = 1;
		for (int i = 0; i < 64; i++)
			if (clients[i]) {
				at_client[n] = i;
				fds[n++] = (struct pollfd){.fd = clients[i]->fd, .events = POLLIN};
			}
		if (poll(fds, (nfds_t)n, -1) < 0) continue;
		for (int i = 1; i < n; i++)
			if (fds[i].revents && !take(clients[at_client[i]])) {
				close(fds[i].fd);
				free(clients[at_client[i]]);
				clients[at_client[i]] = 0;
			}
		if (!(fds[0].revents & POLLIN)) continue;
		int fd = accept(listener, 0, 0), i = 0;
		while (i < 64 && clients[i]) i++;
		if (fd < 0 || i == 64) {
			close(fd);
			continue;
		}
		clients[i] = calloc(1, sizeof *clients[i]);
		clients[i]->fd = fd;
		clients[i]->token = ++serial * 2654435761u;
	}
}
