#!/bin/bash
# Structure: diegoandradecanosa/Cesga2023Courses (ray), a head on the first node and a worker on the other.
#SBATCH --job-name=ray
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --output=ray.out

nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
head_node=${nodes_array[0]}
echo "head on $head_node"

srun --nodes=1 --ntasks=1 -w "$head_node" bash -c 'echo "head $(hostname -s) with $SLURM_NTASKS task" > head.txt; until [ -s worker.txt ]; do sleep 0.2; done' &
for ((i = 1; i < SLURM_JOB_NUM_NODES; i++)); do
  node_i=${nodes_array[$i]}
  srun --nodes=1 --ntasks=1 -w "$node_i" bash -c 'until [ -s head.txt ]; do sleep 0.2; done; echo "worker $(hostname -s)" > worker.txt' &
done
wait
cat head.txt worker.txt
