#!/bin/bash
# Structure: gigantocypris/CT_NVAE (signal_interrupt), the step saves at USR1 and the batch script requeues.
#SBATCH --time=10:00
#SBATCH -N 1
#SBATCH -J sig_interrupt
#SBATCH -o %x.out
#SBATCH -e %x.err
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --open-mode=append

handler() {
  echo "handler"
  scancel --signal=USR1 "$SLURM_JOB_ID" # the steps, not this script
  wait "$step"
  scontrol requeue "$SLURM_JOB_ID"
}
trap handler USR1

echo "job starts, ${SLURM_RESTART_COUNT:-never} restarted"
srun solver state.cpt &
step=$!
if [ -z "$SLURM_RESTART_COUNT" ]; then
  # Stands in for the time limit.
  until [ -e state.cpt ]; do sleep 0.2; done
  sleep 0.5
  scancel --batch --signal=USR1 "$SLURM_JOB_ID"
fi
wait "$step"
echo "job ends"
