#!/bin/sh
# A small batch system for tests: a job is a folder of the spool, and its script a process group.
#
#   spool.sh SPOOL submit MARK <SCRIPT   the job is held; prints its number
#   spool.sh SPOOL release|TERM|KILL|cancel JOB
#   spool.sh SPOOL list                  a line for each job: number, mark, start, end, exit status
#
# The exit status is 2 if the spool is away, and 1 if the spool refuses.
cd "$1" 2>/dev/null || { echo "the spool does not answer" >&2; exit 2; }
case $2 in
submit)
  [ ! -e full ] || { echo "the spool is full" >&2; exit 1; }
  job=1
  while ! mkdir "$job" 2>/dev/null; do job=$((job + 1)); done
  cat >"$job/script"
  printf %s "$3" >"$job/mark"
  echo "$job"
  ;;
release)
  cd "$3" || exit 1
  [ ! -e end ] || { echo "the job has ended" >&2; exit 1; }
  mkdir released 2>/dev/null || exit 0
  setsid sh -c '
    setsid sh ./script & job=$!
    echo "$job" >pid.new; date +%s%3N >start; mv pid.new pid
    wait "$job"
    echo $? >status; date +%s%3N >end.new; mv end.new end
  ' </dev/null >/dev/null 2>&1 &
  until [ -e pid ]; do sleep 0.01; done
  ;;
TERM | KILL) [ -e "$3/end" ] || kill -s "$2" -- "-$(cat "$3/pid")" 2>/dev/null || true ;;
cancel)
  [ ! -e "$3/end" ] || exit 0
  if [ -e "$3/pid" ]; then kill -s KILL -- "-$(cat "$3/pid")"; else date +%s%3N >"$3/end"; fi
  touch "$3/cancelled"
  ;;
list)
  for mark in */mark; do
    job=${mark%/mark}
    [ -e "$mark" ] || continue
    reason=none
    [ ! -e "$job/cancelled" ] || reason=cancelled
    echo "$job $(cat "$mark") $(cat "$job/start" 2>/dev/null || echo -) $(cat "$job/end" 2>/dev/null || echo -)" \
      "$(cat "$job/status" 2>/dev/null || echo -) $reason"
  done
  ;;
esac
