// A program that ends in a constructor, before main.
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void die(void) {
	fprintf(stderr, "no licence\n");
	exit(1);
}

int main(void) { return 0; }
