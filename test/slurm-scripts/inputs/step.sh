#!/bin/bash
#SBATCH --time=5
#SBATCH --output=step-%x.out
echo "step $SLURM_JOB_NAME arguments $# $*"
echo "$SLURM_JOB_NAME" >> order.txt
