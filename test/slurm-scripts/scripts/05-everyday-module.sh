#!/bin/bash
# Structure: amew0/autoencoders, modules, then an environment of conda.
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --job-name=import
#SBATCH --time=02:00:00
#SBATCH --output=i.%j.out
#SBATCH --error=i.%j.err

module purge
module load anaconda3
module load cuda/11.8
module load gcc/12.2
module list

eval "$(conda shell.bash hook)"
conda activate project
echo "environment $CONDA_DEFAULT_ENV"
basename "$(dirname "$(dirname "$(type -P conda)")")"
module load nosuch/1.0 || echo "no such module"
