#!/bin/bash
# Structure: Niccolo-Ajroldi/cluster_101, a sweep by an array with a log for each task.
#SBATCH --job-name=sweep
#SBATCH --account=physics
#SBATCH --mail-type=FAIL
#SBATCH --mail-user=someone@example.invalid
#SBATCH --array=0-4%2
#SBATCH --time=00:05:00
#SBATCH --output=logs/%x_%A_%a.out
#SBATCH --error=logs/%x_%A_%a.err

RATES=(0.1 0.03 0.01 0.003 0.001)
RATE=${RATES[$SLURM_ARRAY_TASK_ID]}

echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT: rate $RATE"
echo "from $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX step $SLURM_ARRAY_TASK_STEP" >&2
echo "$RATE" > "rate-$SLURM_ARRAY_TASK_ID.txt"
