/*
 * A task's own record of when it ran, kept in memory and written when it ends. Lines, times in ns on the
 * node's monotonic clock:
 *
 *   node NAME
 *   prompt 0|1            whether `continued` lines are prompt: their thread had a real-time priority
 *   ran FROM TO CPU WORK  the task ran from FROM to TO, used CPU ns of processor time and did WORK units
 *   continued TIME        a SIGCONT came
 *   ended CODE            the task ended by itself; absent if it was killed
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct piece {
  int64_t from, to, cpu, work;
};
static struct {
  char file[4000], begun[4096];
  int64_t gap;                 /* a longer time between two samples is a time in which the task did not run */
  struct piece *pieces;
  size_t count, room;
  int64_t from, last, cpu, work;
  int64_t *continued;
  size_t continuations;
  int prompt;
} record;
#define MOST_CONTINUATIONS 1000000

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Gives this thread a real-time priority, if the user may. */
static int become_prompt(void) {
  struct sched_param priority = {.sched_priority = 50};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0;
}

/* SIGCONT is blocked in all threads, and one thread waits for it. It is stopped and continued as all others are. */
static void *note_continuations(void *unused) {
  record.prompt = become_prompt();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCONT);
  for (;;) {
    siginfo_t info;
    if (sigwaitinfo(&set, &info) != SIGCONT) continue;
    if (record.continuations < MOST_CONTINUATIONS)
      record.continued[record.continuations++] = clock_ns(CLOCK_MONOTONIC);
  }
  return unused;
}

static void close_piece(int64_t work) {
  if (record.count == record.room) {
    record.room = record.room ? 2 * record.room : 4096;
    record.pieces = realloc(record.pieces, record.room * sizeof(struct piece));
    if (!record.pieces) exit(99);
  }
  int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  record.pieces[record.count++] = (struct piece){record.from, record.last, cpu - record.cpu, work - record.work};
  record.cpu = cpu;
  record.work = work;
}

/* Notes that the task runs now and has done so much work. Returns the time. */
static int64_t record_sample(int64_t work) {
  int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (now - record.last > record.gap) {
    close_piece(work);
    record.from = now;
  }
  record.last = now;
  return now;
}

/*
 * Begins the record of this task in a folder, where an empty file shows that it runs. Call it before any thread is
 * started.
 */
static void record_begin(const char *folder, int64_t gap_ns) {
  char node[256];
  gethostname(node, sizeof node);
  snprintf(record.file, sizeof record.file, "%s/%s.%d", folder, node, (int)getpid());
  snprintf(record.begun, sizeof record.begun, "%s.new", record.file);
  FILE *out = fopen(record.begun, "w");
  if (!out || fclose(out)) exit(99);
  record.gap = gap_ns;
  record.continued = malloc(MOST_CONTINUATIONS * sizeof *record.continued);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCONT);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread;
  if (!record.continued || pthread_create(&thread, NULL, note_continuations, NULL)) exit(99);
  record.from = record.last = clock_ns(CLOCK_MONOTONIC);
  record.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Writes the record under another name first, so that a reader never sees a part of it. */
static void record_end(int64_t work, int code) {
  char node[256];
  close_piece(work);
  gethostname(node, sizeof node);
  FILE *out = fopen(record.begun, "w");
  if (!out) exit(99);
  fprintf(out, "node %s\nprompt %d\n", node, record.prompt);
  for (size_t i = 0; i < record.count; i++) {
    struct piece *p = &record.pieces[i];
    fprintf(out, "ran %lld %lld %lld %lld\n", (long long)p->from, (long long)p->to, (long long)p->cpu, (long long)p->work);
  }
  for (size_t i = 0; i < record.continuations; i++) fprintf(out, "continued %lld\n", (long long)record.continued[i]);
  fprintf(out, "ended %d\n", code);
  if (fclose(out) || rename(record.begun, record.file)) exit(99);
}
