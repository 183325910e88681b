#!/bin/bash
# Structure: dstdev/base-cluster-docs (variable-time jobs), a checkpoint before the time limit, then a requeue.
#SBATCH -J vtj
#SBATCH -N 1
#SBATCH --time=1
#SBATCH --signal=B:USR1@50
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=vtj-%j.out

on_usr1() {
  echo "time is nearly over: requeue"
  kill -USR1 "$pid"
  wait "$pid"
  scontrol requeue "$SLURM_JOB_ID"
  exit 0
}
trap on_usr1 USR1

echo "start number ${SLURM_RESTART_COUNT:-0}"
solver state.cpt &
pid=$!
wait "$pid"
echo "end"
