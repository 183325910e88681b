#!/bin/bash
# Structure: attiliocn/cjobs (clean_job), results are brought home when the job is cancelled.
id=$(sbatch --parsable -J scratch -o scratch.out << 'EOT'
#!/bin/bash
#SBATCH --time=10
job_scratch_dir=$PWD/scratch-dir
mkdir -p "$job_scratch_dir" results
clean_job() {
  echo "Received signal."
  cp "$job_scratch_dir"/* results/
  rm -rf "$job_scratch_dir"
  echo "Scratch directory removed."
  exit 0
}
trap clean_job TERM INT
echo partial > "$job_scratch_dir/part.txt"
touch ready
sleep 300 &
wait
EOT
)
until [ -e ready ]; do sleep 0.2; done
sleep 0.5
scancel "$id"
echo "scancel ended with $?"
pending=$(sbatch --parsable --begin=now+1hour -J later -o later.out --wrap 'echo not reached')
scancel --name=later --state=PENDING
scancel "$pending"
