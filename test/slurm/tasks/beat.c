/*
 * A command whose every sign of life is a line of a file that all nodes share:
 *
 *   beat FILE BEATS STATUS     KIND JOB ATTEMPT NODE RANK MS, where KIND is begin, beat or end
 *
 * It beats every 100 ms, and ends with STATUS, or by signal −STATUS. MS is Unix time, which all nodes share.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 100000000

static int file;

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : "-";
}

static void line(const char *kind) {
  char node[256];
  struct timespec now;
  gethostname(node, sizeof node);
  clock_gettime(CLOCK_REALTIME, &now);
  /* One write, so that lines of several nodes do not mix. */
  dprintf(file, "%s %s %s %s %s %lld\n", kind, variable("TUTTI_JOB_ID"), variable("TUTTI_ATTEMPT"), node,
          variable("TUTTI_RANK"), (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0) return 99;
  line("begin");
  for (int beats = atoi(argv[2]); beats > 0; beats--) {
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
    line("beat");
  }
  line("end");
  int status = atoi(argv[3]);
  if (status < 0) {
    signal(-status, SIG_DFL);
    raise(-status);
  }
  return status;
}
