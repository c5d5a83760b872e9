// The runtime is not built with MemorySanitizer, which therefore sees neither the memory that the runtime initialises nor the
// arguments that it passes.

#include <stddef.h>

void __msan_unpoison(const volatile void *data, size_t size) __attribute__((weak));
void __msan_unpoison_param(size_t n) __attribute__((weak));

static inline void initialised(const void *data, size_t size) {
	if (__msan_unpoison) __msan_unpoison(data, size);
}

// parameters_initialised marks the n arguments of the next call as initialised.
static inline void parameters_initialised(size_t n) {
	if (__msan_unpoison_param) __msan_unpoison_param(n);
}
