#!/bin/bash
# Structure: UESTC-REVERIE/GS-Depth, training on two GPUs of a kind.
#SBATCH -o train.%j.out
#SBATCH -J train
#SBATCH -N 1
#SBATCH -t 1:00:00
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --gres=gpu:a100:2

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
echo "GPUs $CUDA_VISIBLE_DEVICES, threads $OMP_NUM_THREADS"
nvidia-smi
slurm-env
