#!/bin/bash
# Structure: rci-msu/slurm-templates (process-output-files), an array, then a job on all its results.
set -euo pipefail
mkdir -p parts
scatter=$(sbatch --parsable --array=1-3 -J scatter -o parts/%a.log --wrap='echo $((SLURM_ARRAY_TASK_ID * 10)) > parts/$SLURM_ARRAY_TASK_ID')
gather=$(sbatch --parsable -d "afterok:$scatter" -J gather -o gather.out --wrap='cat parts/1 parts/2 parts/3 | paste -sd+ > sum; cat sum')
echo "submitted $scatter and $gather"
