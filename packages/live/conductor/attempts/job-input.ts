/**
 * What a job reads as standard input, as parts of its launch script (shim.ts). The job's user owns all of it,
 * in the attempt's folder, so neither front end nor conductor needs to live for it.
 *
 *   pipe       folder/input is a named pipe that the job reads. The job begins when the client has it open
 *              and has written "go" into folder/ready. From then on it is like the pipe of a shell: it ends
 *              when the client ends.
 *   pipe, on a node of a cluster
 *              The conductor writes frames into folder/input (job-inputs.ts). A feeder, a process of the
 *              gang, writes their bytes into folder/fed, which the job reads. It leaves out what comes twice,
 *              and keeps the pipe open while conductors change. The job begins with the first frame, which
 *              may be empty: its client is there.
 *   terminal   The first process of the job holds a new pseudo-terminal. It reads frames from folder/input,
 *              which it keeps open, so that clients come and go. Everything that the terminal shows is
 *              appended to the job's standard output, so that clients see it by reading a file.
 *
 * The holder of the terminal is a process of the gang: it is stopped and continued with it, and counts for
 * its limits. It and the feeder are written in Perl: Node cannot make a terminal without a compiled addon,
 * and would take over 40 MB of the job. `script` of util-linux stops itself when its child is stopped, as a
 * gang is.
 */
import { MAX_FRAME_BYTES } from "@tutti/protocol/input/frames.ts";

/** Processes of which the end means nothing but the end: no core is left by doing the same. */
const PLAIN_SIGNALS = "1|2|9|10|12|13|14|15";

/** How long a job on a node of a cluster waits for its client, in seconds of its turns. */
const FIRST_FRAME_S = 60;

const CLIENT_GONE =
  "Cannot read standard input: the tutti run that sends it has ended, expected it to wait for the job";

/** How long a command waits for the size of the first client's window, in seconds. */
const FIRST_SIZE_S = 2;

/** Makes the named pipes, in the attempt's folder. */
export const MAKE_INPUT = `rm -f input ready fed
  mkfifo -m 600 input ready fed || { echo "Cannot make a named pipe in the attempt's folder" > lost; exit 74; }
  `;

/**
 * Waits for the client and lets the shell read what it sends. The client has opened the pipe at the latest
 * when it writes "go". If the gang was stopped all the time, "go" may be there although the time is over.
 * @param fail command of the shell that ends the attempt; its argument is the reason
 */
export function readFromClient(fail: (why: string) => string): string {
  return `exec 4<> input 5<> ready
sender=
for limit in 10 2; do
  [ "$sender" = go ] || sender=$(timeout $limit head -n 1 <&5)
done
[ "$sender" = go ] || ${fail(CLIENT_GONE)}
exec < input 4<&- 5<&-
`;
}

/**
 * Starts the feeder, which outlives no job: it belongs to the gang by its mark.
 * @param mark an assignment of the shell
 */
export function readFromFeeder(
  mark: string,
  quote: (text: string) => string,
  fail: (why: string) => string,
): string {
  return `command -v perl > /dev/null || ${fail("Cannot read standard input: there is no perl, expected the program perl in /usr/bin")}
( ${mark} perl -e ${quote(FEEDER)} < /dev/null 2> /dev/null & )
exec < fed
[ ! -e lost ] || exit 74
`;
}

/**
 * It ignores the signals that end a job: the job reads on until it ends itself. When the job reads nothing
 * more, SIGPIPE ends it.
 */
const FEEDER = String.raw`
use strict;
use Fcntl;
$SIG{$_} = "IGNORE" for qw(TERM HUP INT QUIT USR1 USR2 ALRM);
# Opened for writing, too: what a conductor writes that dies is not the end.
sysopen(my $input, "input", O_RDWR) or exit 74;
my ($frames, $given, $job) = ("", 0, undef);
# Stopped with its gang, it waits for longer.
for (my $left = ${FIRST_FRAME_S}; $left > 0; $left--) {
  my $readable = "";
  vec($readable, fileno($input), 1) = 1;
  last if select($readable, undef, undef, 1) > 0;
  next if $left > 1;
  if (open(my $lost, ">", "lost")) { print $lost "${CLIENT_GONE}\n"; close $lost }
  exit 74 if sysopen($job, "fed", O_WRONLY);
}
sub feed { defined $job or sysopen($job, "fed", O_WRONLY) or exit 74 }
for (;;) {
  if ($frames =~ /\Ap (\d{1,16}) (\d{1,4})
/) {
    my ($offset, $bytes, $head) = ($1, $2, $+[0]);
    if (length($frames) >= $head + $bytes) {
      my $twice = $given - $offset;
      exit 74 if $twice < 0;
      feed();
      for (my $at = $twice; $at < $bytes; ) {
        my $written = syswrite($job, $frames, $bytes - $at, $head + $at);
        defined $written or $!{EINTR} or exit 74;
        $at += $written || 0;
        $given += $written || 0;
      }
      substr($frames, 0, $head + $bytes) = "";
      next;
    }
  } elsif ($frames =~ /\Ae
/) {
    feed();
    exit 0;
  }
  sysread($input, $frames, 65536, length $frames);
}
`;

/** The stage `terminal` of the launch script: the command, with a terminal. */
export function inTerminal(cwd: string): string {
  return `if [ "\${1-}" = terminal ]; then
  exec 9< .
  cd ${cwd} || exit 74
  stty iutf8 2> /dev/null
  begin
fi
`;
}

/** Makes a terminal and runs the script's stage `terminal` in it. */
export function holdTerminal(quote: (text: string) => string, fail: (why: string) => string): string {
  return `command -v perl > /dev/null || ${fail("Cannot make a terminal for the job: there is no perl, expected the program perl in /usr/bin")}
exec perl -e ${quote(HOLDER)} /bin/sh launch terminal`;
}

/**
 * Numbers of ioctl are those of most processors, then those of POWER, MIPS and SPARC. TERM is passed on as
 * the end of the terminal (HUP), because interactive shells ignore TERM.
 */
const HOLDER = String.raw`
use strict;
use Fcntl;
use POSIX ();
my @command = @ARGV;
sub fail {
  my $why = "Cannot make a terminal for the job: $_[0]: $!";
  if (open(my $lost, ">", "lost")) { print $lost "$why\n"; close $lost }
  POSIX::_exit(74);
}
sub control {
  my ($file, $data, @numbers) = @_;
  for (@numbers) { return $data if ioctl($file, $_, $data) }
  return undef;
}
sysopen(my $input, "input", O_RDWR | O_NONBLOCK) or fail("its input");
sysopen(my $master, "/dev/ptmx", O_RDWR | O_NOCTTY) or fail("/dev/ptmx");
defined control($master, pack("i", 0), 0x40045431, 0x80045431) or fail("unlocking it");
my $number = control($master, pack("i", 0), 0x80045430, 0x40045430);
defined $number or fail("its number");
my $path = "/dev/pts/" . unpack("i", $number);
# Kept open, so that reading never fails while a program has closed the terminal.
sysopen(my $slave, $path, O_RDWR | O_NOCTTY) or fail($path);
fcntl($master, F_SETFL, O_RDWR | O_NONBLOCK) or fail("fcntl");
sub resize { control($master, pack("S4", $_[0], $_[1], 0, 0), 0x5414, 0x80087467) }
resize(24, 80);

my ($child, $status, $sized);
my ($frames, $typed) = ("", "");
$SIG{CHLD} = sub {};
$SIG{TERM} = sub { defined $child ? kill("HUP", $child) && kill("CONT", $child) : POSIX::_exit(143) };
$SIG{HUP} = $SIG{INT} = $SIG{QUIT} = $SIG{PIPE} = "IGNORE";

sub start {
  $child = fork;
  defined $child or fail("fork");
  return if $child;
  $SIG{$_} = "DEFAULT" for qw(CHLD TERM HUP INT QUIT PIPE);
  POSIX::setsid();
  sysopen(my $tty, $path, O_RDWR) or fail($path);
  POSIX::dup2(fileno($tty), $_) for 0 .. 2;
  exec { $command[0] } @command;
  POSIX::_exit(127);
}

sub take {
  for (;;) {
    if ($frames =~ s/\Aw (\d{1,4}) (\d{1,4})\n//) { resize($1, $2); $sized = 1 }
    elsif ($frames =~ /\Ad (\d{1,4})\n/) {
      my ($bytes, $head) = ($1, $+[0]);
      return if length($frames) < $head + $bytes;
      $typed .= substr($frames, $head, $bytes);
      substr($frames, 0, $head + $bytes) = "";
    } else {
      # Only our clients write frames: drops everything else.
      $frames = "" unless $frames =~ /\A(?:[wd](?: \d{0,4}){0,2})?\z/;
      return;
    }
  }
}

# Shows what is there. False if nothing was.
sub show {
  my $bytes = sysread($master, my $shown, 65536);
  return 0 unless $bytes;
  my $from = 0;
  while ($from < $bytes) {
    my $written = syswrite(STDOUT, $shown, $bytes - $from, $from);
    # A full disk takes what is shown, but the job goes on.
    last unless defined $written or $!{EINTR};
    $from += $written || 0;
  }
  return 1;
}

my $until = time + ${FIRST_SIZE_S};
until (defined $status) {
  start() if !defined $child and ($sized or time >= $until);
  my ($readable, $writable) = ("", "");
  vec($readable, fileno($input), 1) = 1 if length($typed) < 65536;
  vec($readable, fileno($master), 1) = 1;
  vec($writable, fileno($master), 1) = 1 if length $typed and defined $child;
  # The end of the child interrupts this, unless it comes just before.
  my $ready = select($readable, $writable, undef, 0.5);
  $status = $? if defined $child and waitpid($child, POSIX::WNOHANG()) == $child;
  next if $ready <= 0;
  if (vec($readable, fileno($input), 1)) {
    sysread($input, $frames, 65536 - length $frames, length $frames);
    take();
  }
  if (vec($writable, fileno($master), 1)) {
    my $written = syswrite($master, $typed, ${MAX_FRAME_BYTES});
    substr($typed, 0, $written) = "" if $written;
  }
  show() if vec($readable, fileno($master), 1);
}
for (1 .. 1024) { show() or last }
my $signal = $status & 127;
if ($signal =~ /\A(?:${PLAIN_SIGNALS})\z/) {
  POSIX::sigaction($signal, POSIX::SigAction->new("DEFAULT")) unless $signal == 9;
  kill $signal, $$;
}
POSIX::_exit($signal ? 128 + $signal : $status >> 8);
`;
