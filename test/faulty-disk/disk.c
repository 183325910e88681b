/*
 * A disk that fails, below a real program: preloaded into it, this writes down each change of the files in
 * one folder, and refuses or ends the program at a chosen change. What a power cut would have left can be
 * computed from what was written down (disk.ts).
 *
 *   FAULTY_DISK_FOLDER  the folder, as the program names it
 *   FAULTY_DISK_LOG     file for the changes, outside the folder
 *   FAULTY_DISK_KIND    kill (before any change), write, full (writes), sync
 *   FAULTY_DISK_AT      number of the first change of that kind that fails; 0: none
 *   FAULTY_DISK_TIMES   how many fail
 *
 * Lines of the log: c FILE PATH (new file), o FILE PATH (opened), w FILE OFFSET LENGTH, followed by the bytes,
 * t FILE LENGTH (truncated), s FILE (synced), f FILE (sync failed), u PATH (removed), d (the folder synced).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 64
#define MOST_DESCRIPTORS 1024
#define FOLDER (-1)
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Numbers of files, from 1; 0: a file elsewhere. */
static int number_of[MOST_DESCRIPTORS];
static char *paths[MOST_FILES];
static int files, to_log = -1;
static const char *folder, *kind;
static long at, times, count;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("FAULTY_DISK_FOLDER");
  kind = getenv("FAULTY_DISK_KIND");
  at = atol(getenv("FAULTY_DISK_AT"));
  times = atol(getenv("FAULTY_DISK_TIMES"));
  to_log = REAL(open)(getenv("FAULTY_DISK_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (to_log < 0) abort();
}

static void put(const void *bytes, size_t length) {
  if (REAL(write)(to_log, bytes, length) != (ssize_t)length) abort();
}

static void note(const char *format, ...) {
  char line[4096];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  put(line, length);
}

/* Whether this change fails. It must be asked once before each. */
static int fails(const char *what) {
  int isKill = strcmp(kind, "kill") == 0;
  int isWrite = strcmp(what, "write") == 0 && strcmp(kind, "full") == 0;
  if (!isKill && !isWrite && strcmp(kind, what) != 0) return 0;
  count++;
  if (at == 0 || count < at || count >= at + times) return 0;
  if (isKill) raise(SIGKILL);
  errno = isWrite ? ENOSPC : EIO;
  return 1;
}

static int file_of(int descriptor) {
  return descriptor >= 0 && descriptor < MOST_DESCRIPTORS ? number_of[descriptor] : 0;
}

/* Whether the path is the folder (1) or below it (2). */
static int place_of(const char *path) {
  if (folder == NULL) return 0;
  size_t length = strlen(folder);
  if (strncmp(path, folder, length) != 0) return 0;
  return path[length] == 0 ? 1 : path[length] == '/' ? 2 : 0;
}

static int number_of_path(const char *path) {
  for (int i = 1; i <= files; i++)
    if (paths[i] != NULL && strcmp(paths[i], path) == 0) return i;
  return 0;
}

static int opened(const char *path, int flags, mode_t mode) {
  int place = place_of(path);
  int isNew = place == 2 && (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  if (isNew && fails("create")) return -1;
  int descriptor = REAL(open)(path, flags, mode);
  if (descriptor < 0) return descriptor;
  if (descriptor >= MOST_DESCRIPTORS) abort();
  number_of[descriptor] = place == 1 ? FOLDER : 0;
  if (place != 2) return descriptor;
  int number = number_of_path(path);
  if (number == 0) {
    number = ++files;
    if (number >= MOST_FILES) abort();
    paths[number] = strdup(path);
  }
  number_of[descriptor] = number;
  note("%c %d %s\n", isNew ? 'c' : 'o', number, path);
  if ((flags & O_TRUNC) != 0) note("t %d 0\n", number);
  return descriptor;
}

int open(const char *path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(values, mode_t) : 0;
  va_end(values);
  return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS) number_of[descriptor] = 0;
  return REAL(close)(descriptor);
}

/* A full disk takes the first half of what no longer fits. */
static ssize_t written(int number, int descriptor, const void *bytes, size_t length, off_t offset) {
  int isRefused = fails("write");
  if (isRefused && errno == ENOSPC && count == at && length > 1) length /= 2;
  else if (isRefused) return -1;
  ssize_t done = REAL(pwrite64)(descriptor, bytes, length, offset);
  if (done > 0) {
    note("w %d %lld %lld\n", number, (long long)offset, (long long)done);
    put(bytes, done);
  }
  return done;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
  int number = file_of(descriptor);
  if (number <= 0) return REAL(pwrite64)(descriptor, bytes, length, offset);
  return written(number, descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  int number = file_of(descriptor);
  if (number <= 0) return REAL(write)(descriptor, bytes, length);
  ssize_t done = written(number, descriptor, bytes, length, lseek(descriptor, 0, SEEK_CUR));
  if (done > 0) lseek(descriptor, done, SEEK_CUR);
  return done;
}

int ftruncate64(int descriptor, off64_t length) {
  int number = file_of(descriptor);
  if (number > 0 && fails("truncate")) return -1;
  int result = REAL(ftruncate64)(descriptor, length);
  if (number > 0 && result == 0) note("t %d %lld\n", number, (long long)length);
  return result;
}

static int synced(int descriptor, int (*sync)(int)) {
  int number = file_of(descriptor);
  if (number == 0) return sync(descriptor);
  if (fails("sync")) {
    if (number > 0) note("f %d\n", number);
    errno = EIO;
    return -1;
  }
  if (number == FOLDER) note("d\n");
  else note("s %d\n", number);
  return 0;
}

int fsync(int descriptor) { return synced(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)); }

int unlink(const char *path) {
  int isOurs = place_of(path) == 2;
  if (isOurs && fails("remove")) return -1;
  int result = REAL(unlink)(path);
  if (!isOurs || result != 0) return result;
  int number = number_of_path(path);
  if (number > 0) {
    free(paths[number]);
    paths[number] = NULL;
  }
  note("u %s\n", path);
  return result;
}
