/*
 * An MPI program whose every exchange is checked: a ring, a sum over all, and a barrier per round, and a
 * record of when each rank ran.
 *
 *   ring FOLDER ROUNDS MIN_SECONDS
 *
 * It does at least ROUNDS rounds and goes on until MIN_SECONDS have passed on rank 0. The first rank prints
 * `ranks N rounds N wrong N`. The exit status is 1 if anything was wrong.
 */
#include "record.h"
#include <mpi.h>

/* A rank that waits for others still runs, so a thread of its own samples: it sleeps, and is late when stopped. */
#define SAMPLE_NS 5000000
#define GAP_NS 50000000

static volatile int over;
static volatile int64_t rounds;

static void *sample(void *unused) {
  struct timespec pause = {.tv_nsec = SAMPLE_NS};
  become_prompt();
  while (!over) {
    record_sample(rounds);
    nanosleep(&pause, NULL);
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  record_begin(argv[1], GAP_NS);
  pthread_t sampler;
  if (pthread_create(&sampler, NULL, sample, NULL)) return 99;
  int64_t least = atoll(argv[2]), end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(atof(argv[3]) * 1e9);
  int rank, size, granted;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long long wrong = 0;
  int more = 1;
  for (int64_t round = 0; more; round++) {
    long long mine[2] = {round, rank}, theirs[2] = {-1, -1}, sum = 0;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(mine, 2, MPI_LONG_LONG, right, 7, theirs, 2, MPI_LONG_LONG, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += theirs[0] != round || theirs[1] != left;
    long long value = round * (rank + 1);
    MPI_Allreduce(&value, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != round * size * (size + 1) / 2;
    MPI_Barrier(MPI_COMM_WORLD);
    rounds = round + 1;
    more = rounds < least || clock_ns(CLOCK_MONOTONIC) < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  long long all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ranks %d rounds %lld wrong %lld\n", size, (long long)rounds, all);
  over = 1;
  pthread_join(sampler, NULL);
  record_end(rounds, all != 0);
  MPI_Finalize();
  return all != 0;
}
