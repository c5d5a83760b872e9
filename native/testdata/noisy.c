// A filter that writes much more to standard error and output than is read, and aborts if a write fails.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
	char in[64], line[1024];
	ssize_t n = read(0, in, sizeof in);
	memset(line, 'n', sizeof line);
	for (int i = 0; i < 200; i++)
		if (write(2, line, sizeof line) != sizeof line || write(1, line, sizeof line) != sizeof line)
			abort();
	if (n > 2 && in[0] == 'b' && in[1] == 'u' && in[2] == 'g') {
		write(2, "the end\n", 8);
		abort();
	}
	return 0;
}
