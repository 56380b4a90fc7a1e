// A library for LD_PRELOAD: the n-th call of one kind fails, or kills the process, anywhere in a tree of processes.
//
// The environment says what happens:
//
//   PACE_NTH_COUNTERS  a file as large as struct counters, where all processes count; without it nothing happens
//   PACE_NTH_FOLDER    calls on files count if the file is in this folder, a real path
//   PACE_NTH_KIND      create, write, rename, sync, truncate, unlink, fork or map
//   PACE_NTH_NUMBER    n, from 1 on; 0: all calls are counted, and none fails
//   PACE_NTH_ERROR     the number of the error
//   PACE_NTH_HOW       error  the n-th call fails
//                      full   the n-th call and all later ones fail
//                      half   the n-th call writes half, and all later ones fail
//                      kill   SIGKILL in place of the n-th call, to its process
//                      torn   the same, once half is written
//                      after  the same, once the call has returned
//                      end    the same in place of the n-th call, to the first process of the tree as well
//
// The calls that glibc makes for itself, such as malloc's of mmap, are not seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE, WRITE, RENAME, SYNC, TRUNCATE, UNLINK, FORK, MAP, KINDS };
static const char* const kind_names[KINDS] = {"create",   "write",  "rename", "sync",
                                              "truncate", "unlink", "fork",   "map"};

enum how { ERROR, FULL, HALF, KILL, TORN, AFTER, END, HOWS };
static const char* const how_names[HOWS] = {"error", "full", "half", "kill", "torn", "after", "end"};

// As tests/killed/killed.py reads it.
struct counters {
  uint64_t calls[KINDS];
  int32_t root;  // the first process
  int32_t hit;   // the process of the n-th call; 0: there was none
  char call[32];
  char path[PATH_MAX];
};

static struct counters* counters;
static char folder[PATH_MAX];
static size_t folder_length;
static int wanted = -1, wanted_how, wanted_error;
static uint64_t wanted_number;

static int index_of(const char* name, const char* const* names, int count) {
  for (int i = 0; name != NULL && i < count; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

// By system calls alone, since the functions below replace the library's.
__attribute__((constructor)) static void begin(void) {
  const char* const file = getenv("PACE_NTH_COUNTERS");
  const char* const watched = getenv("PACE_NTH_FOLDER");
  if (file == NULL || watched == NULL || counters != NULL) return;
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void* const memory =
      (void*)syscall(SYS_mmap, NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  syscall(SYS_close, descriptor);
  if (memory == MAP_FAILED) return;
  folder_length = strlen(watched);
  if (folder_length >= sizeof folder) return;
  memcpy(folder, watched, folder_length + 1);
  wanted = index_of(getenv("PACE_NTH_KIND"), kind_names, KINDS);
  wanted_how = index_of(getenv("PACE_NTH_HOW"), how_names, HOWS);
  const char* const number = getenv("PACE_NTH_NUMBER");
  const char* const error = getenv("PACE_NTH_ERROR");
  wanted_number = number == NULL ? 0 : strtoull(number, NULL, 10);
  wanted_error = error == NULL ? EIO : atoi(error);
  counters = memory;
  int32_t nobody = 0;
  __atomic_compare_exchange_n(&counters->root, &nobody, (int32_t)getpid(), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void die(int with_root) {
  const pid_t root = counters->root;
  if (with_root && root != getpid()) syscall(SYS_kill, root, SIGKILL);
  for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

static int is_watched(const char* path) {
  return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == '\0');
}

// The absolute path of a name below an open folder, or of the descriptor itself if the name is empty. Returns whether
// it is in the watched folder.
static int resolve(char* path, int descriptor, const char* name) {
  char link[64];
  ssize_t length = 0;
  if (name[0] != '/') {
    if (descriptor == AT_FDCWD)
      strcpy(link, "/proc/self/cwd");
    else
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    if (name[0] != '\0') path[length++] = '/';
  }
  if ((size_t)length + strlen(name) >= PATH_MAX) return 0;
  strcpy(path + length, name);
  return is_watched(path);
}

// What becomes of a call: it goes on, or `how`.
enum { GO_ON = -1 };

static int count(enum kind kind, const char* call, const char* path) {
  const uint64_t number = __atomic_add_fetch(&counters->calls[kind], 1, __ATOMIC_SEQ_CST);
  if ((int)kind != wanted || wanted_number == 0 || number < wanted_number) return GO_ON;
  if (number > wanted_number && wanted_how != FULL && wanted_how != HALF) return GO_ON;
  // The file of the first call that fails.
  if (number > wanted_number + (wanted_how == HALF)) return FULL;
  counters->hit = (int32_t)getpid();
  snprintf(counters->call, sizeof counters->call, "%s", call);
  snprintf(counters->path, sizeof counters->path, "%s", path);
  if (wanted_how == KILL) die(0);
  if (wanted_how == END) die(1);
  return number > wanted_number ? FULL : wanted_how;
}

static int on_name(enum kind kind, const char* call, int descriptor, const char* name) {
  char path[PATH_MAX];
  const int error = errno;
  const int how = counters != NULL && resolve(path, descriptor, name) ? count(kind, call, path) : GO_ON;
  errno = error;
  return how;
}

static int on_descriptor(enum kind kind, const char* call, int descriptor) {
  return on_name(kind, call, descriptor, "");
}

static int on_process(enum kind kind, const char* call) { return counters != NULL ? count(kind, call, "") : GO_ON; }

static int fails(int how) { return how == ERROR || how == FULL; }

static int failed(void) {
  errno = wanted_error;
  return -1;
}

#define NEXT(name) \
  static __typeof__(&name) next; \
  if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// The end of a call that cannot write half.
#define FINISH(type, how, call) \
  do { \
    if (fails(how) || (how) == HALF) return (type)failed(); \
    const type result = (call); \
    if ((how) == TORN || (how) == AFTER) die(0); \
    return result; \
  } while (0)

// The end of a call that writes `size` bytes, of which `half` writes the first half.
#define FINISH_WRITE(how, size, half, call) \
  do { \
    if (fails(how) || ((how) == HALF && (size) < 2)) return failed(); \
    if ((how) == HALF) return (half); \
    if ((how) == TORN && (size) < 2) die(0); \
    const ssize_t result = (how) == TORN ? (half) : (call); \
    if ((how) == TORN || (how) == AFTER) die(0); \
    return result; \
  } while (0)

ssize_t write(int descriptor, const void* data, size_t size) {
  NEXT(write);
  const int how = on_descriptor(WRITE, "write", descriptor);
  FINISH_WRITE(how, size, next(descriptor, data, size / 2), next(descriptor, data, size));
}

// On a full disk what a file has already can be overwritten.
static int needs_no_room(int how, int descriptor, off64_t end) {
  struct stat info;
  return how == FULL && fstat(descriptor, &info) == 0 && end <= info.st_size;
}

#define PWRITE(name, offset_type) \
  ssize_t name(int descriptor, const void* data, size_t size, offset_type offset) { \
    NEXT(name); \
    int how = on_descriptor(WRITE, "pwrite", descriptor); \
    if (needs_no_room(how, descriptor, (off64_t)(offset + size))) how = GO_ON; \
    FINISH_WRITE(how, size, next(descriptor, data, size / 2, offset), next(descriptor, data, size, offset)); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

// Half of a list of buffers is the first half of the first one.
ssize_t writev(int descriptor, const struct iovec* parts, int number) {
  NEXT(writev);
  const int how = on_descriptor(WRITE, "writev", descriptor);
  FINISH_WRITE(how, number > 0 ? parts[0].iov_len : 0,
               (ssize_t)syscall(SYS_write, descriptor, parts[0].iov_base, parts[0].iov_len / 2),
               next(descriptor, parts, number));
}

#define SENDFILE(name, offset_type) \
  ssize_t name(int to, int from, offset_type* offset, size_t size) { \
    NEXT(name); \
    const int how = on_descriptor(WRITE, "sendfile", to); \
    FINISH_WRITE(how, size, next(to, from, offset, 1), next(to, from, offset, size)); \
  }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  NEXT(copy_file_range);
  const int how = on_descriptor(WRITE, "copy_file_range", to);
  FINISH_WRITE(how, size, next(from, from_offset, to, to_offset, 1, flags),
               next(from, from_offset, to, to_offset, size, flags));
}

// A stream writes by calls that are not seen, so that its functions count.
size_t fwrite(const void* data, size_t size, size_t number, FILE* file) {
  NEXT(fwrite);
  const int how = fileno(file) >= 0 ? on_descriptor(WRITE, "fwrite", fileno(file)) : GO_ON;
  if (fails(how)) return (size_t)(failed() + 1);
  if (how == HALF) return next(data, size, number / 2, file);
  const size_t result = next(data, size, how == TORN ? number / 2 : number, file);
  if (how == TORN) fflush(file);
  if (how == TORN || how == AFTER) die(0);
  return result;
}

int fclose(FILE* file) {
  NEXT(fclose);
  const int how =
      fileno(file) >= 0 && __fpending(file) > 0 ? on_descriptor(WRITE, "fclose", fileno(file)) : GO_ON;
  if (fails(how) || how == HALF || how == TORN) {
    __fpurge(file);
    next(file);
    if (how == TORN) die(0);
    return failed();
  }
  const int result = next(file);
  if (how == AFTER) die(0);
  return result;
}

static int creates(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

#define MODE_AFTER(flags, mode) \
  mode_t mode = 0; \
  if (creates(flags)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

#define OPEN(name) \
  int name(const char* path, int flags, ...) { \
    NEXT(name); \
    MODE_AFTER(flags, mode) \
    const int how = creates(flags) ? on_name(CREATE, "open", AT_FDCWD, path) : GO_ON; \
    FINISH(int, how, next(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int folder_descriptor, const char* path, int flags, ...) { \
    NEXT(name); \
    MODE_AFTER(flags, mode) \
    const int how = creates(flags) ? on_name(CREATE, "openat", folder_descriptor, path) : GO_ON; \
    FINISH(int, how, next(folder_descriptor, path, flags, mode)); \
  }
OPENAT(openat)
OPENAT(openat64)
// The fortified ones, `__open_2` and its like, never have O_CREAT.

#define CREAT(name) \
  int name(const char* path, mode_t mode) { \
    NEXT(name); \
    const int how = on_name(CREATE, "creat", AT_FDCWD, path); \
    FINISH(int, how, next(path, mode)); \
  }
CREAT(creat)
CREAT(creat64)

#define FOPEN(name) \
  FILE* name(const char* path, const char* mode) { \
    NEXT(name); \
    const int how = strpbrk(mode, "wa") != NULL ? on_name(CREATE, "fopen", AT_FDCWD, path) : GO_ON; \
    if (fails(how) || how == HALF) return failed(), NULL; \
    FILE* const result = next(path, mode); \
    if (how == TORN || how == AFTER) die(0); \
    return result; \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define MKSTEMP(name) \
  int name(char* pattern) { \
    NEXT(name); \
    const int how = on_name(CREATE, #name, AT_FDCWD, pattern); \
    FINISH(int, how, next(pattern)); \
  }
MKSTEMP(mkstemp)
MKSTEMP(mkstemp64)

#define MKOSTEMP(name) \
  int name(char* pattern, int flags) { \
    NEXT(name); \
    const int how = on_name(CREATE, #name, AT_FDCWD, pattern); \
    FINISH(int, how, next(pattern, flags)); \
  }
MKOSTEMP(mkostemp)
MKOSTEMP(mkostemp64)

char* mkdtemp(char* pattern) {
  NEXT(mkdtemp);
  const int how = on_name(CREATE, "mkdtemp", AT_FDCWD, pattern);
  if (fails(how) || how == HALF) return failed(), NULL;
  char* const result = next(pattern);
  if (how == TORN || how == AFTER) die(0);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  const int how = on_name(CREATE, "mkdir", AT_FDCWD, path);
  FINISH(int, how, next(path, mode));
}

int mkdirat(int folder_descriptor, const char* path, mode_t mode) {
  NEXT(mkdirat);
  const int how = on_name(CREATE, "mkdirat", folder_descriptor, path);
  FINISH(int, how, next(folder_descriptor, path, mode));
}

int rename(const char* from, const char* to) {
  NEXT(rename);
  const int how = on_name(RENAME, "rename", AT_FDCWD, to);
  FINISH(int, how, next(from, to));
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  NEXT(renameat);
  const int how = on_name(RENAME, "renameat", to_folder, to);
  FINISH(int, how, next(from_folder, from, to_folder, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  NEXT(renameat2);
  const int how = on_name(RENAME, "renameat2", to_folder, to);
  FINISH(int, how, next(from_folder, from, to_folder, to, flags));
}

#define ON_DESCRIPTOR(name, kind) \
  int name(int descriptor) { \
    NEXT(name); \
    const int how = on_descriptor(kind, #name, descriptor); \
    FINISH(int, how, next(descriptor)); \
  }
ON_DESCRIPTOR(fsync, SYNC)
ON_DESCRIPTOR(fdatasync, SYNC)

#define FTRUNCATE(name, size_type) \
  int name(int descriptor, size_type size) { \
    NEXT(name); \
    const int how = on_descriptor(TRUNCATE, "ftruncate", descriptor); \
    FINISH(int, how, next(descriptor, size)); \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define ON_NAME(name) \
  int name(const char* path) { \
    NEXT(name); \
    const int how = on_name(UNLINK, #name, AT_FDCWD, path); \
    FINISH(int, how, next(path)); \
  }
ON_NAME(unlink)
ON_NAME(remove)
ON_NAME(rmdir)

int unlinkat(int folder_descriptor, const char* path, int flags) {
  NEXT(unlinkat);
  const int how = on_name(UNLINK, "unlinkat", folder_descriptor, path);
  FINISH(int, how, next(folder_descriptor, path, flags));
}

pid_t fork(void) {
  NEXT(fork);
  const int how = on_process(FORK, "fork");
  if (fails(how) || how == HALF) return failed();
  const pid_t child = next();
  if (child != 0 && (how == TORN || how == AFTER)) die(0);
  return child;
}

// A function that returns twice cannot be called by another one.
pid_t vfork(void) { return fork(); }

#define SPAWN(name) \
  int name(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions, \
           const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) { \
    NEXT(name); \
    const int how = on_process(FORK, #name); \
    if (fails(how) || how == HALF) return wanted_error; \
    const int result = next(process, path, actions, attributes, arguments, environment); \
    if (how == TORN || how == AFTER) die(0); \
    return result; \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

#define MMAP(name, offset_type) \
  void* name(void* address, size_t length, int protection, int flags, int descriptor, offset_type offset) { \
    NEXT(name); \
    const int how = on_process(MAP, "mmap"); \
    if (fails(how) || how == HALF) return failed(), MAP_FAILED; \
    void* const result = next(address, length, protection, flags, descriptor, offset); \
    if (how == TORN || how == AFTER) die(0); \
    return result; \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
