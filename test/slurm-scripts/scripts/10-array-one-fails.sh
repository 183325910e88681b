#!/bin/bash
# Structure: sedengel25/PaCMAPworms (resubmit_failed), the failed tasks of an array once more.
array=$(sbatch --parsable --array=1-3 -J part -o part-%a.out --wrap='echo part $SLURM_ARRAY_TASK_ID; [ $SLURM_ARRAY_TASK_ID != 2 ] || exit 3')
sbatch -J all -o all.out --dependency="afterok:$array" --wrap='echo all parts are there'
sbatch -J repair -o repair.out --dependency="afternotok:${array}_2" --wrap='echo part 2 again'
sbatch -J single -o single.out --dependency="afterok:${array}_1:${array}_3" --wrap='echo 1 and 3 are there'
