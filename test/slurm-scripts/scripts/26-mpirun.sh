#!/bin/bash
# Structure: pleprovost/md-utilities, a solver of MPI behind modules, as many ranks as the job has tasks.
#SBATCH --ntasks-per-node=2
#SBATCH -J MDRUN
#SBATCH -N 1
#SBATCH -t 10
#SBATCH -o omd.%j
#SBATCH -e emd.%j
#SBATCH --mem-per-cpu=150
set -e

module load gcc openmpi/4.1 gromacs/2022
export OMP_NUM_THREADS=1
mpicc -o md ring.c
mpirun -np "$SLURM_NTASKS" ./md
mpirun ./md > second.txt
slurm-env
cd ..
