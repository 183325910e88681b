#!/bin/bash
# Structure: kjhsu1/snakehive_forked, a loop of jobs of which each waits for the one before.
id=$(sbatch --parsable -J step0 step.sh zero)
for i in 1 2 3; do
  id=$(sbatch --parsable -J "step$i" --dependency=afterany:"$id" step.sh "$i" "two words")
done
sbatch --parsable -J last --dependency="afterok:$id" -o last.out --wrap='cat order.txt'
