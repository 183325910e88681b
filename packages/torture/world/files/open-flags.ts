/** Numbers of Linux (x86-64) that calls on files take. */
export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_TRUNC = 0o1000;
export const O_APPEND = 0o2000;
export const O_NONBLOCK = 0o4000;
export const O_DIRECTORY = 0o200000;
export const O_NOFOLLOW = 0o400000;
/** The bits that say whether an open file can be read and written. */
export const O_ACCMODE = 3;

/** What `access` asks for. */
export const R_OK = 4;
export const W_OK = 2;
export const X_OK = 1;
