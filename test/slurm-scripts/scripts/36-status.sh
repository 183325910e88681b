#!/bin/bash
# Structure: jdblischak/smk-simple-slurm (status scripts) and interactive use by salloc.
id=$(sbatch --parsable --hold -J held -t 5 -o held.out --wrap 'scontrol show job $SLURM_JOB_ID | grep -o "JobName=.*\|TimeLimit=[^ ]*\|NumTasks=[^ ]*"; squeue -h -j $SLURM_JOB_ID -o "%i|%j|%T|%D|%C|%l|%r"')
squeue -h -j "$id" -o '%i %j %t %r'
scontrol release "$id"
until [ -z "$(squeue -h -j "$id" -o %T)" ]; do sleep 0.3; done

status() {
  local state
  state=$(sacct -j "$1" --format State --noheader | head -1 | awk '{print $1}')
  case $state in
    COMPLETED) echo success ;;
    PENDING | CONFIGURING | COMPLETING | RUNNING | SUSPENDED | "") echo running ;;
    *) echo failed ;;
  esac
}
until [ "$(status "$id")" != running ]; do sleep 0.5; done
status "$id"
sacct -n -X -P -j "$id" -o State,ExitCode

salloc -n 2 -J alloc bash -c 'echo "$SLURM_NTASKS tasks"; srun -l sh -c "echo task \$SLURM_PROCID"; exit 3'
echo "salloc ended with $?"
srun -n 1 -J direct sh -c 'echo "direct $SLURM_JOB_NAME"; exit 2'
echo "srun ended with $?"
scontrol show hostnames 'a[1-3],b7'
