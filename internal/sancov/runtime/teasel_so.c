// Definitions that a shared library needs to be linked, and to be loaded by a program that teasel has not linked. In a program
// that teasel has linked, the program's own definitions take precedence.

#include <stddef.h>
#include <stdint.h>

#include "pad.h"

PAD(pad);

#define STUB __attribute__((weak, visibility("default")))

STUB void __sanitizer_cov_8bit_counters_init(uint8_t *a, uint8_t *b) { (void)a, (void)b; }
STUB void __sanitizer_cov_pcs_init(const uintptr_t *a, const uintptr_t *b) { (void)a, (void)b; }
STUB void __sanitizer_cov_trace_switch(uint64_t v, uint64_t *c) { (void)v, (void)c; }

#define HOOK(bits, size)                                                                                        \
	STUB void __sanitizer_cov_trace_cmp##size(uint##bits##_t a, uint##bits##_t b) { (void)a, (void)b; }       \
	STUB void __sanitizer_cov_trace_const_cmp##size(uint##bits##_t a, uint##bits##_t b) { (void)a, (void)b; }
HOOK(8, 1)
HOOK(16, 2)
HOOK(32, 4)
HOOK(64, 8)

#define WRAP(type, name, params, args)      \
	type __real_##name params;              \
	STUB type __wrap_##name params { return __real_##name args; }
WRAP(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n))
WRAP(int, bcmp, (const void *a, const void *b, size_t n), (a, b, n))
WRAP(int, strcmp, (const char *a, const char *b), (a, b))
WRAP(int, strcasecmp, (const char *a, const char *b), (a, b))
WRAP(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n))
WRAP(int, strncasecmp, (const char *a, const char *b, size_t n), (a, b, n))
WRAP(void *, memmem, (const void *a, size_t n, const void *b, size_t m), (a, n, b, m))
WRAP(char *, strstr, (const char *a, const char *b), (a, b))
