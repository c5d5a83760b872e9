// What a program was doing with an exception of C++'s when it called abort. The library's own message has the type at most, and a
// program that has set a terminate handler, or calls abort in a catch block, says nothing.

#include <sys/uio.h>

void *__cxa_current_exception_type(void) __attribute__((weak));
void **__cxa_get_globals(void) __attribute__((weak)); // to the exceptions of this thread, the one that is handled first

// peek copies what is readable of n bytes, and returns how many these are: the program's memory may be damaged.
static size_t peek(void *to, const void *from, size_t n) {
	size_t head = 4096 - ((uintptr_t)from & 4095), copied = 0;
	if (head > n) head = n;
	struct iovec local = {to, n}, parts[] = {{(void *)(uintptr_t)from, head}, {(char *)(uintptr_t)from + head, n - head}};
	ssize_t got = process_vm_readv(getpid(), &local, 1, parts, 2, 0);
	if (got > 0) copied = (size_t)got;
	return copied;
}

// peek_text appends at most n bytes of a line to a text.
static char *peek_text(char *to, const char *from, size_t n) {
	n = peek(to, from, n);
	for (const char *end = to + n; to < end && *to && *to != '\n'; to++) {}
	return to;
}

static char *put_number(char *to, int64_t value, int is_signed) {
	char digits[24], *d = digits + sizeof digits;
	uint64_t rest = is_signed && value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	if (is_signed && value < 0) *to++ = '-';
	do *--d = (char)('0' + rest % 10); while (rest /= 10);
	size_t n = (size_t)(digits + sizeof digits - d);
	__builtin_memcpy(to, d, n);
	return to + n;
}

// put_value appends the value of an object if its type, of which it is given the mangled name, is an integer or a string.
static char *put_value(char *to, const char *name, const void *object) {
	static const char integers[] = "cabshitjlmxy", unsigned_ones[] = "hbtjmy", sizes[] = {1, 1, 1, 2, 1, 4, 2, 4, 8, 8, 8, 8};
	const char *which = name[0] && !name[1] ? strchr(integers, name[0]) : 0, *text = 0;
	if (which) {
		uint64_t value = 0;
		int bits = 8 * sizes[which - integers];
		if (peek(&value, object, (size_t)bits / 8) * 8 != (size_t)bits) return to;
		int is_signed = !strchr(unsigned_ones, name[0]);
		return put_number(to, is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value, is_signed);
	}
	// libstdc++'s string begins with the pointer to its bytes, which end with a zero.
	if (strcmp(name, "PKc") && strcmp(name, "Pc") && strcmp(name, "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")) return to;
	if (peek(&text, object, sizeof text) != sizeof text || !text) return to;
	return peek_text(to, text, 200);
}

// exception_report writes the type of the exception that is handled, and its value if that can be shown, to standard error.
static void exception_report(void) {
	enum { WORDS = 3, OBJECT = 112 }; // of the header before the object, with 64-bit pointers
	if (!__cxa_current_exception_type || !__cxa_get_globals || sizeof(void *) != 8) return;
	uintptr_t type = (uintptr_t)__cxa_current_exception_type(), words[WORDS];
	const char *name = 0;
	if (!type || peek(&name, (void *)(type + sizeof type), sizeof name) != sizeof name) return;
	char text[1024] = "teasel: exception of type ", *start = text + strlen(text), *end;
	end = peek_text(start, name, 600);
	if (*start == '*') { // of a type that has no name in other files
		__builtin_memmove(start, start + 1, (size_t)(end - start));
		end--;
	}
	*end = 0;
	char mangled[200];
	__builtin_memcpy(mangled, start, sizeof mangled);
	mangled[sizeof mangled - 1] = 0;
	const char *header = *__cxa_get_globals();
	if (peek(words, header, sizeof words) == sizeof words) {
		// libc++abi's header begins with two words more than libstdc++'s. That of an exception thrown again by pointer has no type.
		const char *object = words[0] == type ? header + OBJECT : words[2] == type ? header + OBJECT + 16 : 0;
		char *value = end + 2, *rest = object ? put_value(value, mangled, object) : value;
		if (rest > value) {
			end[0] = ':', end[1] = ' ';
			end = rest;
		}
	}
	*end++ = '\n';
	(void)!write(2, text, (size_t)(end - text));
}
