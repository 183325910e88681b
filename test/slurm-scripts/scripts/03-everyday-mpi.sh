#!/bin/bash
# Structure: econcharlescai/YaleParallel2018, a program of MPI that srun starts.
#SBATCH --job-name=mpi
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --time=10:00
#SBATCH --output=mpi.out
#SBATCH --error=mpi.err

mpicc -o ring ring.c
srun --mpi=pmix ./ring
srun -l sh -c 'echo "task $SLURM_PROCID of $SLURM_NTASKS, local $SLURM_LOCALID, node $SLURM_NODEID"'
