#!/bin/bash
# Structure: public templates with --export=none (Pawsey) and --export=ALL,NAME=value (KIT), arguments, --chdir.
export FROM_LOGIN=seen
mkdir -p elsewhere
sbatch -J none --export=NONE -o none.out --wrap 'echo "[${FROM_LOGIN-unset}] [${SLURM_EXPORT_ENV-unset}] [$USER]"'
sbatch -J all --export=ALL,EXTRA=1,TWO="two words" -o all.out --wrap 'echo "[${FROM_LOGIN-unset}] [$EXTRA] [$TWO]"'
sbatch -J some --export=FROM_LOGIN -o some.out --wrap 'echo "[${FROM_LOGIN-unset}] [${LMOD_CMD-unset}]"'
sbatch -J chdir --chdir=elsewhere -o here.out --wrap 'basename "$PWD"; basename "$SLURM_SUBMIT_DIR"'
sbatch -J arguments -o arguments.out step.sh --verbose "a b" ''
FROM_LOGIN=other sbatch -J run -o run.out << 'EOT'
#!/bin/sh
echo "$FROM_LOGIN"
srun --export=ALL,STEP=3 sh -c 'echo "$FROM_LOGIN $STEP"'
srun --export=STEP=3 /bin/sh -c 'echo "${FROM_LOGIN-unset} $STEP"'
EOT
