#!/bin/bash -l
# Structure: public examples of the Max Planck centre for apptainer with GPUs: login shell, modules, a container.
#SBATCH -o ./job_outs/job.out.%j
#SBATCH -e ./job_outs/job.err.%j
#SBATCH -D ./
#SBATCH --job-name=container
#SBATCH --nodes=1
#SBATCH --gpus=2
#SBATCH --time=00:10:00

module purge
module load apptainer/1.1 cuda
module list

srun apptainer exec --nv --bind "$PWD":/workspace image.sif bash -c 'echo "in $APPTAINER_CONTAINER with GPUs $CUDA_VISIBLE_DEVICES"; nvidia-smi -L'
