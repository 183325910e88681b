#!/bin/bash
# Structure: elvirazetterberg/Genome-Analysis-Project, scripts from a here document, one per sample.
for sample in alpha beta; do
  sbatch --parsable <<EOT
#!/bin/sh
#SBATCH -J job_$sample
#SBATCH -n 2
#SBATCH -t 5:00
#SBATCH -o $sample.out

echo "$sample for \$SLURM_JOB_NAME with \$SLURM_NTASKS tasks in \$(basename "\$PWD")"
echo $sample > $sample.done
EOT
done
