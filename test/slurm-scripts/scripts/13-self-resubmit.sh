#!/bin/bash
# Structure: wywywyp/mkdocstest (job resubmission), the script submits itself until the work is done.
#SBATCH --job-name=job_chain
#SBATCH --cpus-per-task=1
#SBATCH --time=0-10:00
#SBATCH --mem=100M
#SBATCH --output=chain.%j.out

round=$(cat state.cpt 2> /dev/null || echo 0)
if [ "$round" -gt 0 ]; then echo "restart from $round"; else echo "new simulation"; fi
echo $((round + 1)) > state.cpt

work_should_continue() { [ "$(cat state.cpt)" -lt 3 ]; }
if work_should_continue; then
  sbatch "${BASH_SOURCE[0]}"
fi
