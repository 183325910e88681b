#!/bin/bash
# Structure: srtee/cdc_collab (requeue templates), here by the exit code of the program.
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --job-name=resume
#SBATCH --output=resume.log

cont=
if [ "$SLURM_RESTART_COUNT" != "" ]; then
  echo "Restart count is $SLURM_RESTART_COUNT"
  cont=continue
fi

srun sh -c "[ '$cont' = continue ] || exit 9"
code=$?
echo "the program ended with $code"
if [ "$code" = 9 ]; then
  echo "Requeue"
  scontrol requeue "$SLURM_JOB_ID"
fi
