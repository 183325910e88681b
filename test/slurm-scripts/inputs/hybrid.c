/* Ranks of MPI with threads of OpenMP. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, ranks, threads = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  printf("rank %d of %d has %d threads\n", rank, ranks, threads);
  MPI_Finalize();
  return 0;
}
