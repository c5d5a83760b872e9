// A limit for single allocations, like libFuzzer's -malloc_limit_mb: an excessive size that comes from the input is reported
// with the stack of the allocation, and not as a hang of the sanitizer, which fills the memory.

#include <stddef.h>
#include <unistd.h>

int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *))
	__attribute__((weak));
void __sanitizer_print_stack_trace(void) __attribute__((weak));

// teasel_allocation_report writes libFuzzer's report. It and its callers are on the printed stack; teasel recognises them by the
// prefix of their names.
static void teasel_allocation_report(int fd, size_t size) {
	static const char before[] = "==1== ERROR: libFuzzer: out-of-memory (malloc(", after[] = "))\n";
	char digits[24];
	size_t n = sizeof digits;
	do digits[--n] = (char)('0' + size % 10); while (size /= 10);
	(void)!write(fd, before, sizeof before - 1);
	(void)!write(fd, digits + n, sizeof digits - n);
	(void)!write(fd, after, sizeof after - 1);
	if (__sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
}
