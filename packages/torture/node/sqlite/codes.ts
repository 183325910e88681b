/** Result codes and flags of SQLite that its file system layer and its callers need. */
export const OK = 0;
export const BUSY = 5;
export const READ_ONLY = 8;
export const NOT_FOUND = 12;
export const FULL = 13;
export const CANNOT_OPEN = 14;
export const ROW = 100;
export const DONE = 101;
export const LOCKED = 6;

const IO_ERROR = 10;
const io = (kind: number): number => IO_ERROR | (kind << 8);
export const READ_FAILED = io(1);
export const SHORT_READ = io(2);
export const WRITE_FAILED = io(3);
export const SYNC_FAILED = io(4);
export const FOLDER_SYNC_FAILED = io(5);
export const TRUNCATE_FAILED = io(6);
export const STAT_FAILED = io(7);
export const DELETE_FAILED = io(10);
export const SHM_SIZE_FAILED = io(19);
export const SHM_OPEN_FAILED = io(18);
export const NOTHING_TO_DELETE = io(23);
/** What SQLite makes of EIO when it reads. */
export const BROKEN_FILE_SYSTEM = io(33);
/** Nobody has made the shared memory, and we may not. */
export const READ_ONLY_CANNOT_INITIALIZE = READ_ONLY | (5 << 8);
export const READ_ONLY_FOLDER = READ_ONLY | (6 << 8);
/** A path is fine; it had symbolic links. */
export const OK_LINK = 2 << 8;

export const OPEN_READONLY = 0x1;
export const OPEN_READWRITE = 0x2;
export const OPEN_CREATE = 0x4;
export const OPEN_DELETE_ON_CLOSE = 0x8;
export const OPEN_EXCLUSIVE = 0x10;
export const OPEN_URI = 0x40;
export const OPEN_MAIN_JOURNAL = 0x800;
export const OPEN_SUPER_JOURNAL = 0x4000;
export const OPEN_WAL = 0x80000;
