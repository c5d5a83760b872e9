// What a fatal signal tells: which, where, and the stack. A sanitizer's own handlers know better and stay.

static uint8_t crash_stack[1 << 16];

static uintptr_t crash_from; // where the stack begins

static _Unwind_Reason_Code frame_add(struct _Unwind_Context *c, void *begun) {
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);
	*(int *)begun |= before && pc == crash_from;
	if (!*(int *)begun) return _URC_NO_REASON; // the handler, and the C library
	if (!pc || AT.results->frame_count == TEASEL_FRAMES) return _URC_END_OF_STACK;
	AT.results->frames[AT.results->frame_count++] = before ? pc : pc - 1; // of a call, not of what it returns to
	return _URC_NO_REASON;
}

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

enum { FATAL = sizeof fatal / sizeof *fatal };

static struct sigaction before_us[FATAL];

// crash_note keeps what can be known of the first fatal signal of a batch.
static void crash_note(int signal, siginfo_t *info, ucontext_t *u) {
	if (segment_base && !AT.results->signal) AT.results->pid = getpid(); // the first of a server's processes
	if (AT.results->signal || AT.results->pid != getpid()) return; // a sanitizer that has reported aborts; or a child of the target
	AT.results->signal = (uint32_t)signal;
	AT.results->code = (uint32_t)info->si_code;
	AT.results->address = (uint64_t)(uintptr_t)info->si_addr;
	AT.results->access = 0;
	AT.results->frame_count = 0;
	if (gap_jumped()) gap_say();
	int begun = 0;
#if defined(__x86_64__)
	greg_t *r = u->uc_mcontext.gregs, ip = r[REG_RIP], sp = r[REG_RSP];
	AT.results->pc = (uint64_t)ip;
	AT.results->sp = (uint64_t)sp;
	uint64_t fault = (uint64_t)r[REG_ERR];
	if (signal == SIGSEGV || signal == SIGBUS) AT.results->access = fault & 16 ? 3 : fault & 2 ? 2 : 1;
#elif defined(__aarch64__)
	AT.results->pc = u->uc_mcontext.pc;
	AT.results->sp = u->uc_mcontext.sp;
#else
	(void)u;
#endif
	if (AT.results->access && AT.results->address == AT.results->pc) AT.results->access = 3;
	crash_from = (uintptr_t)AT.results->pc;
#if defined(__x86_64__)
	if (signal == SIGTRAP && info->si_code == SI_KERNEL) // int3: the next instruction may be of another line
		r[REG_RIP] = (greg_t)(crash_from = AT.results->pc = (uint64_t)ip - 1);
	int jumped = AT.results->access == 3 && AT.results->address == AT.results->pc;
	if (jumped) { // there is no code: the stack begins with the call that led there
		crash_from = *(uintptr_t *)sp - 1;
		r[REG_RIP] = (greg_t)crash_from;
		r[REG_RSP] += 8;
	}
	_Unwind_Backtrace(frame_add, &begun);
	r[REG_RIP] = ip;
	r[REG_RSP] = sp;
#else
	_Unwind_Backtrace(frame_add, &begun);
#endif
}

// A stack that was sampled, with the beginning of each frame's function, and how often that was called.
enum { SAMPLE_FRAMES = 1024 };

struct stack {
	uint32_t count;
	uintptr_t pc[SAMPLE_FRAMES], function[SAMPLE_FRAMES];
	int entries[SAMPLE_FRAMES];
};

static struct stack stacks[TEASEL_SAMPLES];
static uint64_t sampled; // which run they are of
static volatile sig_atomic_t sampling;
static volatile sig_atomic_t running; // an input, which is what is asked about

static _Unwind_Reason_Code sample_add(struct _Unwind_Context *c, void *into) {
	struct stack *s = into;
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);
	if (before && pc == crash_from) s->count = 0;
	if (!pc) return _URC_END_OF_STACK;
	if (s->count == SAMPLE_FRAMES) { // the inner half of a recursion says no more than the outer one
		s->count /= 2;
		__builtin_memcpy(s->pc, s->pc + s->count, sizeof s->pc / 2);
		__builtin_memcpy(s->function, s->function + s->count, sizeof s->function / 2);
	}
	s->function[s->count] = _Unwind_GetRegionStart(c);
	s->pc[s->count++] = before ? pc : pc - 1;
	return _URC_NO_REASON;
}

// common returns how many of the outer frames all stacks share; of the innermost only the function, since a loop is seen
// at different places of it.
static uint32_t common(uint32_t n) {
	const struct stack *a = stacks;
	uint32_t all = a->count;
	for (uint32_t i = 1; i < n; i++) {
		const struct stack *b = stacks + i;
		uint32_t same = 0, most = all < b->count ? all : b->count;
		while (same < most && a->pc[a->count - 1 - same] == b->pc[b->count - 1 - same]) same++;
		all = same < most && a->function[a->count - 1 - same] == b->function[b->count - 1 - same] ? same + 1 : same;
	}
	return all;
}

// looping returns how many of the shared frames it takes to the function with the loop: the innermost one that was not
// called again from one look to the next. If it calls a recursion, that is meant.
static uint32_t looping(uint32_t n, uint32_t shared) {
	const struct stack *a = stacks;
	uint32_t outer = shared;
	for (; outer > 1; outer--) {
		uint32_t at = a->count - outer;
		int again = a->entries[at] < 0;
		for (uint32_t i = 1; i < n; i++) again |= stacks[i].entries[stacks[i].count - outer] != a->entries[at];
		if (!again) break;
	}
	for (uint32_t i = a->count - outer; outer < shared && i > 1; i--)
		if (a->function[i - 2] == a->function[a->count - outer - 1]) return outer + 1;
	return outer;
}

// samples_join tells where each sample is in that function, and what had called it.
static void samples_join(uint32_t n) {
	uint32_t shared = common(n), outer = n > 1 && shared ? looping(n, shared) : shared;
	AT.results->frame_count = 0;
	for (uint32_t i = 0; i < n && outer; i++) AT.results->frames[AT.results->frame_count++] = stacks[i].pc[stacks[i].count - outer];
	for (uint32_t i = stacks[0].count - outer + 1; i < stacks[0].count && AT.results->frame_count < TEASEL_FRAMES; i++)
		AT.results->frames[AT.results->frame_count++] = stacks[0].pc[i];
}

static void sample(int signal, siginfo_t *info, void *context) {
	(void)info;
	uint64_t run = (uint64_t)AT.control->round << 32 | AT.results->cur;
	uint32_t n = sampled == run ? AT.results->samples : 0;
	if (AT.results->pid != getpid() || n == TEASEL_SAMPLES) return;
	if (!running || run != __atomic_load_n(&AT.control->asked, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&AT.results->samples, TEASEL_OVER, __ATOMIC_RELEASE);
		return;
	}
#if defined(__x86_64__)
	crash_from = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	crash_from = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#else
	(void)context;
#endif
	stacks[n].count = 0;
	sampling = 1;
	_Unwind_Backtrace(sample_add, stacks + n);
	sampling = 0;
	for (uint32_t i = 0; i < stacks[n].count; i++) {
		uintptr_t f = stacks[n].function[i];
		stacks[n].entries[i] = i && f == stacks[n].function[i - 1] ? stacks[n].entries[i - 1] : entries(f);
	}
	sampled = run;
	samples_join(n + 1);
	__atomic_store_n(&AT.results->samples, n + 1, __ATOMIC_RELEASE);
	while (signal == TEASEL_LAST_SAMPLE) pause(); // what slept would go on
}

// crash lets whoever was there before, a sanitizer or nobody, see the signal too. Should reading the stack fail, that is
// already in place.
static void crash(int signal, siginfo_t *info, void *context) {
	while (sampling) pause(); // it is our fault, and teasel is about to end this
	for (size_t i = 0; i < FATAL; i++)
		if (fatal[i] == signal) sigaction(signal, &before_us[i], 0);
	crash_note(signal, info, context);
	if (info->si_code > 0 && signal != SIGTRAP && signal != SIGSYS) return; // the instruction is run again; of those two it is the next one
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, 0);
	raise(signal);
}

void __asan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __ubsan_handle_builtin_unreachable(void *) __attribute__((weak));
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

// A target may want a signal for what it does, as virtual machines and garbage collectors do. Handlers that it has installed
// before it is given inputs stay. Those of a sanitizer are there before any of its code is run.
static struct sigaction at_start[FATAL];
static uint8_t kept[FATAL];

static __attribute__((constructor(101))) void crash_begin(void) {
	for (size_t i = 0; i < FATAL; i++) sigaction(fatal[i], 0, &at_start[i]);
}

static void crash_look(void) {
	for (size_t i = 0; i < FATAL; i++) {
		struct sigaction now = {.sa_handler = SIG_DFL};
		if (sigaction(fatal[i], 0, &now) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
		kept[i] = !__sanitizer_set_report_fd || now.sa_handler != at_start[i].sa_handler;
	}
}

static void fatal_watch(void) {
	stack_t ours = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack}, theirs;
	if (sigaltstack(0, &theirs) == 0 && theirs.ss_flags & SS_DISABLE) sigaltstack(&ours, 0);
	if (__tsan_init) return; // its handlers see what ours would, and calls of the C library in ours may never come back
	struct sigaction a = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	for (size_t i = 0; i < FATAL; i++) {
		if (kept[i]) continue;
		sigaction(fatal[i], &a, &before_us[i]);
		// UndefinedBehaviorSanitizer's handlers see no more than ours, and trip over stacks.
		if (!__asan_init && !__msan_init) before_us[i].sa_handler = SIG_DFL;
	}
}

static void crash_watch(void) {
	struct sigaction ask = {.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigaction(TEASEL_SAMPLE, &ask, 0);
	sigaction(TEASEL_LAST_SAMPLE, &ask, 0);
	fatal_watch();
}
