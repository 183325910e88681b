#!/bin/bash
# Structure: the documentation of PIConGPU on signals, reports from running jobs; Slurm has scancel --signal for it.
id=$(sbatch --parsable -J report -o report.out << 'EOT'
#!/bin/bash
#SBATCH --ntasks=2
trap 'echo "batch: USR2"; touch told' USR2
srun bash -c 'trap "echo task $SLURM_PROCID: USR1; exit 0" USR1; touch up.$SLURM_PROCID; while :; do sleep 0.1; done 2> /dev/null' &
wait $!
until [ -e told ]; do sleep 0.2; done
wait
echo "end"
EOT
)
until [ -e up.0 ] && [ -e up.1 ]; do sleep 0.2; done
squeue -h -j "$id" -o '%i %j %T %D %C'
scancel --signal=USR2 --batch "$id"
until [ -e told ]; do sleep 0.2; done
scancel -s USR1 "$id"
