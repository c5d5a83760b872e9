// Tests operand_add with a table that ends where memory ends. It prints what is wrong, and dies if a record lies behind the table.
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

// Whatever is loaded with __atomic_load_n, another thread may come before it is used.
static void come_between(void);
static uint32_t load(const uint32_t *p) {
	uint32_t v = __atomic_load_n(p, __ATOMIC_RELAXED);
	come_between();
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
static int others; // threads that come between a load and its use

static void come_between(void) {
	if (!others) return;
	others--;
	if (!operand_add(1, LIMIT)) wrong |= printf("another thread found no room\n");
}

// table makes a table that has an unmapped page behind its last record.
static void table(uint32_t count) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (count * sizeof(struct operand) + page - 1) / page * page;
	uint8_t *p = mmap(0, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || munmap(p + size, page)) exit(2);
	AT.operands = (struct operand *)(p + size) - count;
	AT.operand_count = count;
	AT.results->operands_used = 0;
}

static pthread_barrier_t start;

// add adds records of one site, so that each thread's are told apart, and returns how many it had room for.
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

// fill has threads add more records than there is room for, or as many.
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
		if (AT.operands[i].site - 1 < THREADS) found[AT.operands[i].site - 1]++;
	if (all != count || operands_used() != count)
		wrong |= printf("threads added %lu records of %u, %u are counted\n", (unsigned long)all, count, operands_used());
	for (int i = 0; i < THREADS; i++)
		if (found[i] != added[i]) wrong |= printf("thread %d added %lu records, %u are there\n", i, (unsigned long)added[i], found[i]);
	munmap(AT.operands, count * sizeof(struct operand));
}

int main(void) {
	static struct control control;
	static struct results results;
	AT.control = &control;
	AT.results = &results;
	for (int n = 0; n <= 3; n++) { // so many records are free, which other threads take
		table(4);
		AT.results->operands_used = (uint32_t)(4 - n);
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
