// A program that ends without running what exit would run, in a way that is chosen when it is built.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
	char b[8] = {0};
	size_t n = fread(b, 1, sizeof b, stdin);
	if (n > 0 && b[0] == 'a')
		if (b[1] == 'b')
			if (b[2] == 'c')
				if (b[3] == 'd') abort();
	END;
}
