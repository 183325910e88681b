#!/bin/bash
# Structure: TideDancer/clusterMatrixMult, several programs in one step.
#SBATCH -n 2
#SBATCH --nodes=1
#SBATCH -o outfile.txt
#SBATCH -e errfile.txt

srun -l --multi-prog mpmd.conf

echo '0-1 echo rank %t, number %o of its range' > both.conf
srun -n 2 --multi-prog both.conf | sort
