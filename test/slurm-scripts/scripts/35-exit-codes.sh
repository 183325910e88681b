#!/bin/bash
# Structure: acorg/richard-pipeline-bacteria (07-error) and guides on bash -e, a step's code and signals.
submit() { # NAME SHEBANG LINES
  printf '%s\n%s\n' "$2" "$3" > "$1.sh"
  sbatch -J "$1" -o "$1.out" -e "$1.err" "$1.sh"
}
submit last '#!/bin/bash' 'echo before; false'
submit ignored '#!/bin/bash' 'false; echo after'
submit strict '#!/bin/bash -e' 'echo before; false; echo not reached'
submit code '#!/bin/bash' 'exit 42'
submit killed '#!/bin/bash' 'echo before; kill -9 $$'
submit terminated '#!/bin/bash' 'kill -TERM $$; sleep 1'
submit child '#!/bin/bash' "bash -c 'kill -KILL \$\$'"
submit step '#!/bin/bash' 'srun sh -c "exit 5"'
submit missing '#!/bin/bash' 'nosuchprogram --version'
submit perl '#!/usr/bin/perl' 'print "perl $ENV{SLURM_JOB_NAME}\n"; exit 6;'
printf 'echo no interpreter\n' > bare.sh
sbatch -J bare -o bare.out bare.sh
echo "refused with $?"
sbatch -J nopartition -p nosuchpartition --wrap true
echo "refused with $?"
sbatch -J unknown --dependency=afterok:999999 -o unknown.out --wrap true
echo "refused with $?"
