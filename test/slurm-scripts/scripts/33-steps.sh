#!/bin/bash
# Structure: kkafar/lsc (substeps), steps side by side, one that fails, and output files for each task.
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:20:00
#SBATCH -o steps.out
#SBATCH -e steps.err

srun -N 1 -n 1 --exclusive -o step-a.txt sh -c 'sleep 0.5; echo a' &
first=$!
srun --nodes=1 --ntasks=1 --exclusive sh -c 'sleep 0.5; exit 7' &
second=$!
wait "$first"; echo "first ended with $?"
wait "$second"; echo "second ended with $?"

srun --output=task-%t.txt --error=task-%t.err bash -c 'echo "out $SLURM_PROCID"; echo "err $SLURM_PROCID" >&2'
srun -n 2 bash -c 'kill -9 $$'; echo "killed: $?"
echo one line | srun -n 1 cat
