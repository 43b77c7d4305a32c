/* A disk that fails, for one program: cc -shared -fPIC failing_disk.c -o failing_disk.so -ldl

   LD_PRELOAD=failing_disk.so FAIL_PATH=warc FAIL_CALLS=w FAIL_AFTER=3000 FAIL_ERRNO=5 PROGRAM

   Calls on files whose path has FAIL_PATH in it (and FAIL_UNDER, if that is given) fail with
   FAIL_ERRNO: reads (r) that reach beyond FAIL_AFTER bytes of their file, writes (w) once
   FAIL_AFTER bytes were written, or everything (a) from then on, as when a network disk is
   gone. A file named FAIL_MARK appears with the first call that fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long long written;

static int is_meant(const char *path) {
    const char *part = getenv("FAIL_PATH");
    const char *under = getenv("FAIL_UNDER") ?: "";
    return part && path && strstr(path, part) && strstr(path, under);
}

static int is_meant_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_meant(path);
}

static long long after(void) { return atoll(getenv("FAIL_AFTER") ?: "0"); }
static char kind(void) { return (getenv("FAIL_CALLS") ?: "-")[0]; }

static int failed(void) {
    const char *mark = getenv("FAIL_MARK");
    if (mark) close(syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0644));
    errno = atoi(getenv("FAIL_ERRNO") ?: "5");
    return -1;
}

static int is_gone(void) { return kind() == 'a' && written >= after(); }

static int read_fails(int fd, long long end) {
    if (!is_meant_fd(fd)) return 0;
    return is_gone() || (kind() == 'r' && end > after());
}

static int write_fails(int fd, long long size) {
    if (!is_meant_fd(fd)) return 0;
    if (is_gone() || (kind() == 'w' && written + size > after())) return 1;
    written += size;
    return 0;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *data, size_t size) {
    off_t place = lseek(fd, 0, SEEK_CUR);
    if (place >= 0 && read_fails(fd, place + size)) return failed();
    return REAL(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t place) {
    return read_fails(fd, place + size) ? failed() : REAL(pread)(fd, data, size, place);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t place) {
    return read_fails(fd, place + size) ? failed() : REAL(pread64)(fd, data, size, place);
}

ssize_t write(int fd, const void *data, size_t size) {
    return write_fails(fd, size) ? failed() : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t place) {
    return write_fails(fd, size) ? failed() : REAL(pwrite)(fd, data, size, place);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    return write_fails(fd, size) ? failed() : REAL(pwrite64)(fd, data, size, place);
}

int rename(const char *old, const char *new) {
    return is_gone() && is_meant(old) ? failed() : REAL(rename)(old, new);
}

int unlink(const char *path) {
    return is_gone() && is_meant(path) ? failed() : REAL(unlink)(path);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return is_gone() && is_meant(path) ? failed() : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return is_gone() && is_meant(path) ? failed() : REAL(open64)(path, flags, mode);
}
