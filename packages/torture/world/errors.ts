/** Failed system calls, with the numbers of Linux and the words of Node. */
import type { SysError } from "./contract.ts";

const KNOWN: Readonly<Record<string, readonly [errno: number, text: string]>> = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  ESRCH: [3, "no such process"],
  EINTR: [4, "interrupted system call"],
  EIO: [5, "i/o error"],
  ENXIO: [6, "no such device or address"],
  ENOEXEC: [8, "exec format error"],
  EBADF: [9, "bad file descriptor"],
  ECHILD: [10, "no child processes"],
  EAGAIN: [11, "resource temporarily unavailable"],
  ENOMEM: [12, "not enough memory"],
  EACCES: [13, "permission denied"],
  EBUSY: [16, "resource busy or locked"],
  EEXIST: [17, "file already exists"],
  EXDEV: [18, "cross-device link not permitted"],
  ENODEV: [19, "no such device"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"],
  EINVAL: [22, "invalid argument"],
  ENFILE: [23, "file table overflow"],
  EMFILE: [24, "too many open files"],
  ETXTBSY: [26, "text file is busy"],
  EFBIG: [27, "file too large"],
  ENOSPC: [28, "no space left on device"],
  ESPIPE: [29, "invalid seek"],
  EROFS: [30, "read-only file system"],
  EMLINK: [31, "too many links"],
  EPIPE: [32, "broken pipe"],
  ERANGE: [34, "result too large"],
  ENAMETOOLONG: [36, "name too long"],
  ENOTEMPTY: [39, "directory not empty"],
  ELOOP: [40, "too many symbolic links encountered"],
  ENOTSOCK: [88, "socket operation on non-socket"],
  EOPNOTSUPP: [95, "operation not supported on socket"],
  EADDRINUSE: [98, "address already in use"],
  ECONNRESET: [104, "connection reset by peer"],
  ENOTCONN: [107, "socket is not connected"],
  ECONNREFUSED: [111, "connection refused"],
};

/** As Node words it: "ENOENT: no such file or directory, open '/x'". */
export function sysError(code: string, syscall: string, path?: string, dest?: string): SysError {
  const [errno, text] = KNOWN[code];
  const where = path === undefined ? "" : ` '${path}'`;
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  // Failures are ordinary here, and a stack would cost more than the call that failed.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(`${code}: ${text}, ${syscall}${where}${to}`);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, {
    ...{ code, errno: -errno, syscall },
    ...(path !== undefined && { path }),
    ...(dest !== undefined && { dest }),
  });
}
