/*
 * An MPI program that computes and exchanges in turn, as much as it is told, however long it takes.
 *
 *   grain ROUNDS STEPS
 *
 * In each round, a rank computes STEPS steps, passes a number to the next rank, and all add up what they got.
 * The first rank prints `ranks N rounds N wrong N seconds S`, from the first round to the last. The exit
 * status is 1 if anything was wrong. With 0 rounds, it prints how many steps a rank computes in a second
 * while all ranks do.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIAL_STEPS 200000000LL

static uint64_t compute(uint64_t state, int64_t steps) {
  for (int64_t step = 0; step < steps; step++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int64_t rounds = atoll(argv[1]), steps = atoll(argv[2]);
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t state = 88172645463325252ULL + (uint64_t)rank;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  if (rounds == 0) {
    state = compute(state, TRIAL_STEPS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("steps %.0f of %llu\n", TRIAL_STEPS / (MPI_Wtime() - begin), (unsigned long long)state);
    MPI_Finalize();
    return 0;
  }
  long long wrong = 0, all = 0;
  for (int64_t round = 0; round < rounds; round++) {
    state = compute(state, steps);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    long long mine = round * size + rank, theirs = -1, sum = 0;
    MPI_Sendrecv(&mine, 1, MPI_LONG_LONG, right, 7, &theirs, 1, MPI_LONG_LONG, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += theirs != round * size + left;
    MPI_Allreduce(&theirs, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != (long long)size * (round * size) + (long long)size * (size - 1) / 2;
  }
  double seconds = MPI_Wtime() - begin;
  wrong += state == 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ranks %d rounds %lld wrong %lld seconds %.6f\n", size, (long long)rounds, all, seconds);
  MPI_Finalize();
  return all != 0;
}
