#!/bin/bash
# Structure: public modules of cluster control that put a task of an array back, by A_T.
#SBATCH --array=1-2
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=task-%a.log

task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
echo "task $SLURM_ARRAY_TASK_ID, restarts ${SLURM_RESTART_COUNT:-0}"
if [ "$SLURM_ARRAY_TASK_ID" = 2 ] && [ ! -e "tried" ]; then
  touch tried
  scontrol requeue "$task"
  sleep 60
fi
echo "done $SLURM_ARRAY_TASK_ID"
