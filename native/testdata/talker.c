// A program that prints what it does with its input, a word from standard input or from a file.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void steps(const char *s) {
	if (s[0] < 'a') return;
	puts("the first step");
	if (s[1] < 'a') return;
	puts("the second step");
#ifndef CLEAN
	if (s[2] >= 'a') abort();
#endif
}

int main(int argc, char **argv) {
	char text[32] = {0};
	const char *name = argc > 1 ? argv[1] : 0;
	if (name && !strncmp(name, "--file=", 7)) name += 7;
	FILE *f = name ? fopen(name, "rb") : stdin;
	if (!f) return 9;
	if (fread(text, 1, sizeof text - 1, f) == 0) return 1;
	if (name && !strcmp(text, "unlink")) unlink(name);
	if (name && !strcmp(text, "move")) rename(name, strcat(strdup(name), ".moved"));
	if (!strcmp(text, "daemon") && fork() == 0) {
		setsid();
		if (fork() == 0) sleep(1000);
		_exit(0);
	}
	if (!strcmp(text, "child") && fork() == 0) sleep(1000), _exit(0);
	if (!strcmp(text, "flood"))
		for (long i = 0; i < 100000; i++) printf("line %ld of very many lines\n", i);
	if (!strcmp(text, "binary")) {
		char b[203] = {0, 0, 1};
		memset(b + 3, 'x', sizeof b - 3);
		if (write(1, b, sizeof b) != sizeof b) return 1;
	}
	if (!strcmp(text, "mask")) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, 0);
		for (;;) pause();
	}
	if (!strcmp(text, "ignore")) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		for (;;) pause();
	}
	if (!strcmp(text, "4")) return 4;
#ifndef CLEAN
	if (!strcmp(text, "open")) abort();
#endif
	if (!strncmp(text, "step", 4)) steps(text + 4);
	if (!strncmp(text, "echo ", 5)) printf("you said %s to %d\n", text + 5, (int)getpid());
	if (!strcmp(text, "error")) fprintf(stderr, "that went wrong\n");
	return 0;
}
