#!/bin/bash
# Structure: NREL/HPC (slurm/hostname.sh), srun on two nodes of one kind.
#SBATCH -N 2
#SBATCH --ntasks-per-node=2
#SBATCH --constraint=haswell
#SBATCH -t 5
#SBATCH -o two.out

srun hostname -s
srun -l --ntasks=4 bash -c 'echo "$SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID"'
srun -N 1 -n 1 echo "one task on one node"
srun --ntasks-per-node=1 bash -c 'echo "node $SLURM_NODEID of $SLURM_NNODES"'
slurm-env
