// Tests operand_add with a table that is followed by an unmapped page. It prints errors, and crashes if a record lies beyond the
// table.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// After each __atomic_load_n another thread may run before the loaded value is used.
static void other_thread_runs(void);
static uint32_t load(const uint32_t *p) {
	uint32_t v = __atomic_load_n(p, __ATOMIC_RELAXED);
	other_thread_runs();
	return v;
}
#define __atomic_load_n(p, order) load(p)

#include "layout.h"
#include "memory.h"
#include "pad.h"
#include "counters.h"
#include "operands.h"

enum { THREADS = 4, RECORDS = 20000, ROUNDS = 20, LIMIT = 1 << 20 };

static void segment_region(struct region *r) { (void)r; }

static int wrong;
static int others; // number of threads that run between a load and its use

static void other_thread_runs(void) {
	if (!others) return;
	others--;
	if (!operand_add(1, LIMIT)) wrong |= printf("another thread found no room\n");
}

// table makes a table whose last record is followed by an unmapped page.
static void table(uint32_t count) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (count * sizeof(struct operand) + page - 1) / page * page;
	uint8_t *p = mmap(0, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || munmap(p + size, page)) exit(2);
	SHARED.operands = (struct operand *)(p + size) - count;
	SHARED.operand_count = count;
	SHARED.results->operands_used = 0;
}

static pthread_barrier_t start;

// add adds records of one site, which differs for each thread, and returns how many were added.
static void *add(void *site) {
	uintptr_t n = 0;
	pthread_barrier_wait(&start);
	for (int i = 0; i < RECORDS; i++) {
		struct operand *o = operand_add((uint32_t)(uintptr_t)site, LIMIT);
		if (!o) continue;
		o->flags = 1;
		n++;
	}
	return (void *)n;
}

// fill makes threads add as many records as there is room for, or more.
static void fill(uint32_t count) {
	pthread_t threads[THREADS];
	uintptr_t added[THREADS], all = 0;
	uint32_t found[THREADS] = {0};
	table(count);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(threads + i, 0, add, (void *)(i + 1))) exit(2);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], (void **)(added + i));
		all += added[i];
	}
	for (uint32_t i = 0; i < count; i++)
		if (SHARED.operands[i].site - 1 < THREADS) found[SHARED.operands[i].site - 1]++;
	if (all != count || operands_used() != count)
		wrong |= printf("threads added %lu records of %u, %u are counted\n", (unsigned long)all, count, operands_used());
	for (int i = 0; i < THREADS; i++)
		if (found[i] != added[i]) wrong |= printf("thread %d added %lu records, %u are there\n", i, (unsigned long)added[i], found[i]);
	munmap(SHARED.operands, count * sizeof(struct operand));
}

int main(void) {
	static struct control control;
	static struct results results;
	SHARED.control = &control;
	SHARED.results = &results;
	for (int n = 0; n <= 3; n++) { // n records are free, and other threads take them
		table(4);
		SHARED.results->operands_used = (uint32_t)(4 - n);
		others = n;
		if (operand_add(1, LIMIT)) wrong |= printf("%d threads have taken what was free, and there was room for one more\n", n);
		others = 0;
		if (operands_used() != 4) wrong |= printf("%u records of 4 are counted\n", operands_used());
	}
	pthread_barrier_init(&start, 0, THREADS);
	for (int i = 0; i < ROUNDS; i++) {
		fill(THREADS * RECORDS);
		fill(THREADS * RECORDS / 3);
	}
	return wrong != 0;
}
