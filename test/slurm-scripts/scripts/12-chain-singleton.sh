#!/bin/bash
# Structure: JasonRuonanWang/shore, jobs of one name run one after another (--dependency=singleton).
for day in mon tue wed; do
  sbatch --job-name=import --dependency=singleton --open-mode=append --output=import.log \
    --export=ALL,DAY="$day" --wrap='[ ! -e busy ] || echo overlap; touch busy; sleep 1; rm busy; echo "imported $DAY"'
done
