/*
 * A task that computes for a while and records when it ran.
 *
 *   busy FOLDER SECONDS
 */
#include "record.h"

#define GAP_NS 2000000

/* About 1 µs, the same each time. */
static uint32_t unit(uint32_t x) {
  for (int i = 0; i < 700; i++) x = x * 1103515245u + 12345u;
  return x;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  record_begin(argv[1], GAP_NS);
  int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(atof(argv[2]) * 1e9);
  int64_t work = 0;
  volatile uint32_t x = 1;
  while (record_sample(work) < end) {
    x = unit(x);
    work++;
  }
  record_end(work, 0);
  return 0;
}
