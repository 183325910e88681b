#!/bin/bash -e
# Structure: the lessons of the Carpentries on job arrays (titled Job Arrays), parameters from a table.
#SBATCH --job-name=pi
#SBATCH --array=2-4:2
#SBATCH --time=00:01:00
#SBATCH --mem=512MB
#SBATCH --cpus-per-task=1
#SBATCH --output=slurm-%A_%a.out

IFS=, read -r index rate layers < <(awk -F, -v id="$SLURM_ARRAY_TASK_ID" '$1 == id' params.csv)
mkdir -p "out/$index"
echo "rate=$rate layers=$layers" > "out/$index/config"
slurm-env | grep -E 'ARRAY|MEM|CPUS'
