/* Functions that our code and the archives call, and glibc 2.28 does not have yet; the version that has it is named. Hidden: each program
   and library has its own. `python3 -m packages.deps` makes an archive of this. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* glibc's own declarations, where their headers are not those of today. */
extern char __libc_single_threaded;

/* 2.32. No: then C++ counts the owners of an object atomically, always. */
char __libc_single_threaded = 0;

/* 2.36. */
void arc4random_buf(void* bytes, size_t size);
void arc4random_buf(void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t more = getrandom((char*)bytes + done, size - done, 0);
    if (more < 0 && errno != EINTR) abort();
    if (more > 0) done += (size_t)more;
  }
}

uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}

/* 2.33. For statistics that are not read. */
struct mallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct mallinfo2 mallinfo2(void);
struct mallinfo2 mallinfo2(void) { return (struct mallinfo2){0}; }

/* 2.30. Waits by the clock of the day, from now on as long as the other clock has left. Setting that clock
   meanwhile makes the wait too short or too long, after which its caller looks again. */
static struct timespec by_day(clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return *until;
  struct timespec day, now;
  clock_gettime(CLOCK_REALTIME, &day);
  clock_gettime(clock, &now);
  const int64_t second = 1000000000;
  int64_t left = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec;
  if (left < 0) left = 0;
  left += day.tv_nsec;
  return (struct timespec){.tv_sec = day.tv_sec + left / second, .tv_nsec = left % second};
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec day = by_day(clock, until);
  return pthread_cond_timedwait(condition, mutex, &day);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec day = by_day(clock, until);
  return pthread_mutex_timedlock(mutex, &day);
}

/* Calls `visit` for each open file of this process from `first` to `last`, until it returns other than 0. Returns 0, an error's
   number, or what `visit` returned. Takes no memory, since it may run after the fork() of a program with threads. */
static int for_open_files(int first, int last, int (*visit)(int file, void* context), void* context) {
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  int result = 0;
  for (;;) {
    _Alignas(struct dirent64) char entries[2048];
    const long size = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (size <= 0 || result != 0) break;
    for (long at = 0; at < size && result == 0;) {
      const struct dirent64* entry = (const struct dirent64*)(entries + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      const int file = atoi(entry->d_name);
      if (file != folder && file >= first && file <= last) result = visit(file, context);
    }
  }
  close(folder);
  return result;
}

static int close_file(int file, void* context) {
  (void)context;
  close(file);
  return 0;
}

static int close_on_exec(int file, void* context) {
  (void)context;
  return fcntl(file, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}

/* 2.34, and Linux 5.9. */
int close_range(unsigned first, unsigned last, int flags) {
  const int kCloseOnExec = 4;
  const long result = syscall(436, first, last, flags);
  if (result == 0 || errno != ENOSYS) return (int)result;
  const int greatest = last > INT32_MAX ? INT32_MAX : (int)last;
  const int error = for_open_files((int)first, greatest, (flags & kCloseOnExec) != 0 ? close_on_exec : close_file, NULL);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/* 2.34. A file that another thread opens between this and the start of the program stays open, unless it is opened with
   O_CLOEXEC, as all of ours are. */
static int add_close(int file, void* actions) { return posix_spawn_file_actions_addclose(actions, file); }

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) {
  return for_open_files(first, INT32_MAX, add_close, actions);
}

/* 2.29. The one of this machine's glibc; 2.28 has no way to say it. */
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t* actions, const char* path) {
  int (*own)(posix_spawn_file_actions_t*, const char*) = NULL;
  *(void**)&own = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np");
  return own == NULL ? ENOSYS : own(actions, path);
}

/* For those of Debian's archives that have streams (recipes.py). */
FILE* attune_stdin;
FILE* attune_stderr;
__attribute__((constructor(101))) static void set_streams(void) {
  attune_stdin = stdin;
  attune_stderr = stderr;
}
