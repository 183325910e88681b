#!/bin/bash
# Structure: 0merle0/cleo, line number SLURM_ARRAY_TASK_ID of a file is the command.
#SBATCH --mem=100m
#SBATCH -c 1
#SBATCH -o ajob_%A_%a.out
#SBATCH -J ajob
#SBATCH -t 03:00:00

CMD=$(sed -n "${SLURM_ARRAY_TASK_ID}p" tasks.txt)
echo "${CMD}"
echo "${CMD}" | bash
