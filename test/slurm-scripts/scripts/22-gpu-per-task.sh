#!/bin/bash
# Structure: alexk101/sc24-dl-tutorial, one GPU for each rank, ranks by Slurm's variables.
#SBATCH --job-name=ddp
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=1
#SBATCH --output=ddp.out

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export WORLD_SIZE=$SLURM_NTASKS
echo "batch sees $CUDA_VISIBLE_DEVICES"
srun -o rank-%t.out bash -c 'echo "rank $SLURM_PROCID of $WORLD_SIZE, local rank $SLURM_LOCALID, GPUs $CUDA_VISIBLE_DEVICES, master $MASTER_ADDR"'
slurm-env
