#!/bin/bash
# Structure: public pipelines that submit by --wrap and take the last word of the answer (awk '{print $NF}').
ids=
for read in r1 r2; do
  job=$(sbatch -J "align-$read" -o %x.out -e %x.err --mem 200M -t 2 --wrap "echo aligned $read; echo log of $read >&2")
  ids=$ids:$(echo "$job" | awk '{print $NF}')
done
sbatch --wait -J count -o count.out -d "afterok$ids" --wrap 'cat align-r1.out align-r2.out | wc -l | tr -d " "; exit 4'
echo "the last one ended with $?"
