/** Signals of Linux by name, with what they do to a process that has made no other arrangement. */

interface SignalKind {
  readonly number: number;
  readonly action: "end" | "stop" | "continue" | "nothing";
}

const of = (number: number, action: SignalKind["action"] = "end"): SignalKind => ({ number, action });

export const SIGNALS: Readonly<Record<string, SignalKind>> = {
  SIGHUP: of(1),
  SIGINT: of(2),
  SIGQUIT: of(3),
  SIGILL: of(4),
  SIGTRAP: of(5),
  SIGABRT: of(6),
  SIGBUS: of(7),
  SIGFPE: of(8),
  SIGKILL: of(9),
  SIGUSR1: of(10),
  SIGSEGV: of(11),
  SIGUSR2: of(12),
  SIGPIPE: of(13),
  SIGALRM: of(14),
  SIGTERM: of(15),
  SIGCHLD: of(17, "nothing"),
  SIGCONT: of(18, "continue"),
  SIGSTOP: of(19, "stop"),
  SIGTSTP: of(20, "stop"),
  SIGTTIN: of(21, "stop"),
  SIGTTOU: of(22, "stop"),
  SIGURG: of(23, "nothing"),
  SIGXCPU: of(24),
  SIGXFSZ: of(25),
  SIGVTALRM: of(26),
  SIGPROF: of(27),
  SIGWINCH: of(28, "nothing"),
  SIGIO: of(29),
  SIGPWR: of(30),
  SIGSYS: of(31),
};
