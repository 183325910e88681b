#!/bin/bash
# Structure: ULHPC/ulhpc-docs (launchers), tasks per node, and srun for MPI.
#SBATCH -J launcher
#SBATCH -N 2
#SBATCH --ntasks-per-node=2
#SBATCH --time=0-00:05:00
#SBATCH -o %x-%j.out

module purge || exit 1
module load openmpi
mpicc -o ring ring.c
srun --mpi=pmix -n "${SLURM_NTASKS}" ./ring
