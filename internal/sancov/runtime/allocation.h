// A limit for one allocation, as libFuzzer's -malloc_limit_mb: a size that comes from the input is reported where it is asked
// for, and not as a hang of the sanitizer that fills as much memory.

#include <stddef.h>
#include <unistd.h>

int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *))
	__attribute__((weak));
void __sanitizer_print_stack_trace(void) __attribute__((weak));

// teasel_allocation_report writes what libFuzzer would. It, and what calls it, are on the stack that it prints, and are known
// for ours by the beginning of their names.
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
