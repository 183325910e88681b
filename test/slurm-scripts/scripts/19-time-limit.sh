#!/bin/bash
# Structure: uit-no/hpc-doc (slurm-timeout-cleanup), last words before the end, and jobs after it.
id=$(sbatch --parsable -t 1 -J long -o long.out << 'EOT'
#!/bin/bash
cleanup() { echo "TERM: saving"; echo saved > saved.txt; exit 1; }
trap cleanup TERM
echo begin
sleep 300 &
wait
EOT
)
sbatch -J next -o next.out -d "afternotok:$id" --wrap "cat saved.txt; echo next"
sbatch -J never -o never.out -d "afterok:$id" --kill-on-invalid-dep=yes --wrap 'echo never'
