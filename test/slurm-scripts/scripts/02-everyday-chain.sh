#!/bin/bash
# Structure: cmmid/SA2UK, a submitter that reads the number from "Submitted batch job N".
first=$(sbatch -J first -o first.out --wrap='echo first; exit 1' | grep -Eo '[0-9]+')
sbatch -J onsuccess -o onsuccess.out --dependency=afterok:"$first" --kill-on-invalid-dep=yes --wrap='echo not reached'
sbatch -J always -o always.out --dependency=afterany:"$first" --wrap='echo always; slurm-env | grep DEPEND'
sbatch -J onfailure -o onfailure.out -d afternotok:"$first" --wrap='echo on failure'
