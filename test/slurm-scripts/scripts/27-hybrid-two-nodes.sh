#!/bin/bash
# Structure: econcharlescai/YaleParallel2018 (hybrid), threads in ranks on two nodes.
#SBATCH --job-name=hybrid
#SBATCH --output=hybrid_job.txt
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=2
#SBATCH --nodes=2
#SBATCH --time=10:00

module load openmpi
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
mpicc -fopenmp -o hybrid hybrid.c
mpirun ./hybrid
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" ./hybrid
