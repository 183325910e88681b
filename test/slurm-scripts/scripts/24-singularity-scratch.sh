#!/bin/bash
# Structure: ruiying-ocean/Abil, singularity with a bound folder, and a scratch folder that is removed at the end.
#SBATCH --time=0-02:00:00
#SBATCH --nodes=1
#SBATCH --mem=1000M
#SBATCH --cpus-per-task=2
#SBATCH --output=pre.out
set -euo pipefail

module load apptainer/1.1
scratch=$(mktemp -d "$SLURM_SUBMIT_DIR/scratch.XXXXXX")
trap 'rm -rf "$scratch"; echo cleaned' EXIT

singularity exec -B "$scratch" image.sif bash -c 'seq "$SLURM_CPUS_PER_TASK" | sed "s/^/part /"' > "$scratch/result" 2> call.txt
cp "$scratch/result" result.txt
sed -i "s|$scratch|SCRATCH|;s|SCRATCH|scratch|;s|scratch\.[A-Za-z0-9]*|scratch|" call.txt
echo "memory $SLURM_MEM_PER_NODE"
singularity exec missing.sif true
