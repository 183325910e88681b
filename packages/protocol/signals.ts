/** Lists the signals that users can send to running jobs. */

/** Not SIGSTOP and SIGCONT, by which gangs take turns: jobs are paused and resumed instead. */
export const JOB_SIGNALS = [
  ...[
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
  ],
  ...["SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGTSTP", "SIGTTIN"],
  ...["SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR"],
  "SIGSYS",
] as const;

/** steps: what srun has started in a script. script: the shell of the script. */
export const SIGNAL_TARGETS = ["steps", "script"] as const;
