// Handlers that the target installs for its own faults. One that ends the process hides the crash: the exit status is an ordinary one,
// and one that aborts or raises the signal again that of a place that is none of the fault's. Each such handler is called by one of teasel's, so
// that what ends the process can tell that it comes from there; the process then ends by the signal, with the fault's stack. A handler that
// returns or jumps away has handled the fault.

void (*__real_signal(int signal, void (*handler)(int)))(int);
void (*__real___sysv_signal(int signal, void (*handler)(int)))(int) __attribute__((weak)); // glibc's signal with -std=c99

static struct sigaction target_handlers[FATAL];

// The fault that the innermost handler of this thread handles. It is valid only while the frame of teasel_caught is on the stack.
static __thread struct {
	siginfo_t *info; // 0: none
	ucontext_t *context;
} caught_fault;

static int fatal_index(int signal) {
	for (int i = 0; i < FATAL; i++)
		if (fatal[i] == signal) return signal == SIGTRAP || signal == SIGSYS ? -1 : i; // debuggers and sandboxes handle these
	return -1;
}

static __attribute__((noinline)) void teasel_caught(int signal, siginfo_t *info, void *context) {
	const struct sigaction *theirs = &target_handlers[fatal_index(signal)];
	__typeof__(caught_fault) outer = caught_fault;
	if (theirs->sa_flags & SA_RESETHAND) crash_install(signal);
	if (signal == SIGABRT) caught_exit(); // of a handler that aborts
	caught_fault.info = info;
	caught_fault.context = context;
	if (theirs->sa_flags & SA_SIGINFO) theirs->sa_sigaction(signal, info, context);
	else theirs->sa_handler(signal);
	caught_fault = outer;
}

static _Unwind_Reason_Code caught_find(struct _Unwind_Context *c, void *found) {
	*(int *)found = _Unwind_GetRegionStart(c) == (uintptr_t)teasel_caught;
	return *(int *)found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// caught_exit is called where the process exits or crashes. If a handler of the target's does that, the process ends by the signal instead, as
// the fault that it is. A signal that was sent is no fault, but for that of abort. How a process
// ends that the target has forked is the target's business.
static void caught_exit(void) {
	siginfo_t *info = caught_fault.info;
	int found = 0;
	if (!info || SHARED.results->pid != getpid()) return;
	caught_fault.info = 0; // unwinding a damaged stack may fault
	_Unwind_Backtrace(caught_find, &found);
	if (!found || (info->si_code <= 0 && info->si_signo != SIGABRT)) {
		caught_fault.info = info;
		return;
	}
	int signal = info->si_signo;
	crash_note(signal, info, caught_fault.context);
	__real_sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, 0);
	raise_unblocked(signal);
}

// handler_adopt puts teasel_caught in the place of the handler that the target has installed.
static void handler_adopt(int signal) {
	int i = fatal_index(signal);
	struct sigaction now;
	if (!SHARED.first_fd || __tsan_init || i < 0 || __real_sigaction(signal, 0, &now)) return;
	if (now.sa_handler == SIG_DFL && SHARED.results) crash_install(signal); // or nobody would read the stack
	if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN || now.sa_sigaction == crash || now.sa_sigaction == teasel_caught) return;
	target_handlers[i] = now;
	now.sa_sigaction = teasel_caught;
	now.sa_flags |= SA_SIGINFO;
	__real_sigaction(signal, &now, 0);
}

int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
	int i = fatal_index(signal);
	struct sigaction before = {.sa_handler = SIG_DFL};
	if (i >= 0) before = target_handlers[i];
	int result = __real_sigaction(signal, action, old);
	if (result) return result;
	if (old && old->sa_sigaction == teasel_caught) *old = before;
	if (action) handler_adopt(signal);
	return 0;
}

#define WRAP_SIGNAL(name)                                                                              \
	void (*__wrap_##name(int signal, void (*handler)(int)))(int) {                                     \
		int i = fatal_index(signal);                                                                   \
		void (*before)(int) = i < 0 ? SIG_DFL : target_handlers[i].sa_handler;                         \
		void (*old)(int) = __real_##name(signal, handler);                                             \
		if (old == SIG_ERR) return old;                                                                \
		handler_adopt(signal);                                                                         \
		return (uintptr_t)old == (uintptr_t)teasel_caught ? before : old;                              \
	}
WRAP_SIGNAL(signal)
WRAP_SIGNAL(__sysv_signal)
