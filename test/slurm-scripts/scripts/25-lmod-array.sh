#!/bin/bash -l
# Structure: chitrams/demo-simple-om, an array whose tasks load a module by ml and take a line of a file.
#SBATCH --job-name=om
#SBATCH --time=00:30:00
#SBATCH --output=/dev/null
#SBATCH --error=/dev/null
#SBATCH --mem=100M
#SBATCH --array=1-3%1000

ml R/4.2
ml gcc
ml 2> "modules-$SLURM_ARRAY_TASK_ID.txt"
SEED=$(sed -n "${SLURM_ARRAY_TASK_ID}p" tasks.txt)
eval "$SEED"
