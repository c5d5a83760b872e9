// The least that a forked target can do: read standard input, look at four bytes.
#include <stdlib.h>
#include <unistd.h>

int main(void) {
	unsigned char b[256] = {0};
	if (read(0, b, sizeof b) < 4) return 0;
	if (b[0] == 'f')
		if (b[1] == 'o')
			if (b[2] == 'r')
				if (b[3] == 'k') return 1;
	return 0;
}
