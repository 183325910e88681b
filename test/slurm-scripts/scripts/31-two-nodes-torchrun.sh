#!/bin/bash
# Structure: He-Wenhao/ML-LinearSpace (torchrun) in a container, a launcher on each node with its GPU.
#SBATCH --job-name=multinode
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=1
#SBATCH --output=multinode.out
#SBATCH --error=multinode.err

module load apptainer
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29400
srun --label apptainer exec --nv image.sif bash -c \
  'echo "torchrun --nnodes $SLURM_NNODES --node-rank $SLURM_NODEID --master-addr $MASTER_ADDR:$MASTER_PORT GPUs $CUDA_VISIBLE_DEVICES on $(hostname -s)"'
