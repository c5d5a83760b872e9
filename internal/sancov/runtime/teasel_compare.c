// memcmp for the libraries of a program without a sanitizer that has one: C++'s library compares strings with memcmp, where neither the
// compiler's hooks nor the linker's --wrap apply. The program's definition takes precedence over the C library's if the linker
// exports it.

#include <stddef.h>
#include <stdint.h>

void *dlsym(void *handle, const char *name) __attribute__((weak)); // older C libraries have it in a library of its own
static void *const next = (void *)-1;                              // RTLD_NEXT

void __sanitizer_weak_hook_memcmp(void *pc, const void *a, const void *b, size_t n, int r);

// bytewise is used until constructors have run, and where the C library's memcmp cannot be found.
static int bytewise(const void *a, const void *b, size_t n) {
	const uint8_t *p = a, *q = b;
	for (size_t i = 0; i < n; i++)
		if (p[i] != q[i]) return p[i] - q[i];
	return 0;
}

static int (*libc_memcmp)(const void *, const void *, size_t) = bytewise;

__attribute__((constructor(101))) static void libc_find(void) {
	void *found = dlsym ? dlsym(next, "memcmp") : 0;
	if (found) libc_memcmp = (int (*)(const void *, const void *, size_t))found;
}

__attribute__((visibility("default"))) int memcmp(const void *a, const void *b, size_t n) {
	int r = libc_memcmp(a, b, n);
	__sanitizer_weak_hook_memcmp(__builtin_return_address(0), a, b, n, r);
	return r;
}
