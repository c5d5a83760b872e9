// Faults whose functions end in a call that never returns, are inlined, or are in sections of their own. The line of the fault that an input
// triggers by its first byte has the mark @ and that byte.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <stdexcept>
#include <thread>
#include <vector>
#include <map>
#include <functional>
struct Weird : std::runtime_error { using std::runtime_error::runtime_error; };
struct Plain { int x; };
namespace { enum class Code : short { bad = 2 }; }
volatile int sink; volatile int zero;
[[noreturn]] __attribute__((noinline)) static void die(const char *m) {
	fprintf(stderr, "fatal: %s\n", m);
	abort();                                          //@a
}
__attribute__((noinline)) int between(int x) { return x * 3 + 1; }
[[noreturn]] __attribute__((noinline)) static void thrower(int k) {
	throw Weird("cannot parse record");               //@b
}
__attribute__((noinline)) int between2(int x) { return x * 5 + 1; }
static inline __attribute__((always_inline)) int idiv(int a) { return a / zero; } //@c
template <class T> __attribute__((noinline)) T tmpl(T v) {
	if (v > 3) __builtin_trap();                      //@d
	return v;
}
struct Parser {
	std::vector<int> v;
	__attribute__((noinline)) int get(size_t i) { return v.at(i); } //@e
	__attribute__((noinline)) virtual void check(bool b) { assert(b && "invariant"); } //@f
	virtual ~Parser() {}
};
__attribute__((noinline, cold)) static void coldpath(int *p) {
	*p = 1;                                           //@g
}
__attribute__((noinline)) static void noex() noexcept { throw 42; } //@h
struct Dtor { ~Dtor() noexcept(true) { if (sink == 7) throw std::logic_error("in destructor"); } }; //@i
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 1) return 0;
	int volatile x = n;
	switch (d[0]) {
	case 'a': die("boom");
	case 'b': thrower(x);
	case 'c': sink = idiv(x); break;
	case 'd': sink = tmpl<int>(x + 10); break;
	case 'e': { Parser p; sink = p.get(5); break; }
	case 'f': { Parser *p = new Parser; p->check(x > 100); delete p; break; }
	case 'g': coldpath((int *)(uintptr_t)(x - x)); break;
	case 'h': noex(); break;
	case 'i': { sink = 7; Dtor q; break; }
	case 'j': throw std::string("just a string");      //@j
	case 'k': throw "a literal";                       //@k
	case 'l': throw Plain{3};                          //@l
	case 'm': { std::thread t([] { throw std::out_of_range("in the thread"); }); t.join(); break; } //@m
	case 'n': try { thrower(x); } catch (std::exception &e) { std::throw_with_nested(std::logic_error("outer")); } break; //@n
	case 'o': try { thrower(x); } catch (...) { throw; } break; //@o
	case 'p': { std::function<void()> f = [&] { if (x) abort(); }; f(); break; } //@p
	case 'q': { char *volatile p = (char *)malloc(8); free(p); free(p); break; } //@q
	case 'r': { std::map<int,int> m; m.at(3); break; } //@r
	case 's': { std::string s("abc"); sink = s.substr(10)[0]; break; } //@s
	case 't': { std::thread t([] { abort(); }); t.join(); break; } //@t
	case 'u': { std::thread t([] { abort(); }); t.join(); break; } //@u
	case 'w': try { throw 7; } catch (int) {} abort(); break; //@w
	case 'x': std::set_terminate([] { abort(); }); throw (unsigned char)200; //@x
	case 'y': try { thrower(x); } catch (const Weird &) { fputs("giving up\n", stderr); abort(); } break; //@y
	case 'z': throw (const char *)16; //@z
	case 'A': try { throw -3L; } catch (...) { auto e = std::current_exception(); std::rethrow_exception(e); } break; //@A
	case 'B': throw Code::bad; //@B
	case 'C': std::set_terminate([] { abort(); }); { std::string s("from a string"); throw s; } //@C
	case 'v': throw std::runtime_error("first line\nsecond \x1b[1mline"); //@v
	}
	return between(n) + between2(n) > 1 << 30;
}
