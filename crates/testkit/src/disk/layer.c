/* A layer between a program and its files, loaded with LD_PRELOAD.
 *
 * It counts the operations that change files below one directory (create, write, truncate, sync, rename,
 * remove, make a directory), and does one of two things with them:
 *
 *   WONBON_DISK_LOG=FILE   writes each operation with its data to FILE, in order, so that a test can build what
 *                          any power cut would have left (mod.rs, replay.rs)
 *   WONBON_DISK_FAULT=N:WHAT  lets operation N fail. WHAT is `abort` (the process ends there, as by SIGKILL) or
 *                          an error: `EIO`, `ENOSPC`, `EDQUOT`, `EROFS`; `EMFILE` fails opening files,
 *                          those that are only read too. With N+ that operation and all later ones fail; with
 *                          ENOSPC only operations that need room do.
 *
 * WONBON_DISK_ROOT=DIR says below which directory. Standard output is part of the log: what a program has said is
 * done must be there after a power cut.
 *
 * Calls are made one at a time, so that the log has the order in which they took effect. Some libraries make system
 * calls without the C library; those that change names are caught by a seccomp filter, which lets through what carries
 * a mark in an argument that the call does not have. Not seen: changes through memory maps, syncfs. Linux on x86-64.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, RENAME, REMOVE, MKDIR, SYNC_DIR, SAID };
enum { MOST_FDS = 4096 };
/* The sixth argument of our own calls that the filter would catch. */
#define MARK 0x574f4e42L

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static long fault_at = -1;
static int fault_stays, fault_abort, fault_error;
static long count;
/* What a descriptor is: 0 unknown, 1 a file below the root, 2 a directory below it. */
static unsigned char kinds[MOST_FDS];

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t done = syscall(SYS_write, log_fd, at, length);
        if (done <= 0) _exit(97);
        at += done;
        length -= (size_t)done;
    }
}

/* One record: kind, inode, offset, length of the first part, length of the second, both parts. */
static void note(uint32_t kind, uint64_t inode, uint64_t offset, const void *one, uint64_t one_length,
                 const void *two, uint64_t two_length) {
    if (log_fd < 0) return;
    uint64_t head[5] = {kind, inode, offset, one_length, two_length};
    put(head, sizeof head);
    put(one, one_length);
    put(two, two_length);
}

static void caught(int signal, siginfo_t *info, void *context);

/* Catches calls that change names and were not made here. */
static void catch_calls(void) {
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &action, NULL);
    const unsigned calls[] = {SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_mkdir, SYS_mkdirat};
    enum { CALLS = sizeof calls / sizeof *calls };
    struct sock_filter filter[CALLS + 6];
    int at = 0;
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int call = 0; call < CALLS; call++)
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call], CALLS - call, 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
    filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {.len = (unsigned short)at, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(96);
}

__attribute__((constructor)) static void begin(void) {
    const char *below = getenv("WONBON_DISK_ROOT");
    if (!below) return;
    const char *to = getenv("WONBON_DISK_LOG");
    if (to) {
        int opened = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (opened < 0) _exit(98);
        /* Out of the way of descriptors that the program counts on. */
        log_fd = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
        syscall(SYS_close, opened);
        if (log_fd < 0) _exit(98);
    }
    const char *fault = getenv("WONBON_DISK_FAULT");
    if (fault) {
        char *rest;
        fault_at = strtol(fault, &rest, 10);
        if (*rest == '+') fault_stays = 1, rest++;
        if (*rest++ != ':') _exit(99);
        if (!strcmp(rest, "abort")) fault_abort = 1;
        else if (!strcmp(rest, "EIO")) fault_error = EIO;
        else if (!strcmp(rest, "ENOSPC")) fault_error = ENOSPC;
        else if (!strcmp(rest, "EDQUOT")) fault_error = EDQUOT;
        else if (!strcmp(rest, "EROFS")) fault_error = EROFS;
        else if (!strcmp(rest, "EMFILE")) fault_error = EMFILE;
        else _exit(99);
    }
    strncpy(root, below, sizeof root - 1);
    root_length = strlen(root);
    catch_calls();
}

/* Writes how many operations there were, for who chooses one of them. */
__attribute__((destructor)) static void end(void) {
    const char *to = getenv("WONBON_DISK_COUNT");
    if (!to || !root_length) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", count);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) syscall(SYS_write, fd, text, length), syscall(SYS_close, fd);
}

static int is_below(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* The path with its directory made absolute; 0 if it is not below the root. */
static int place_at(int directory, const char *path, char *out) {
    if (!root_length || !path) return 0;
    if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
    } else {
        char base[PATH_MAX], link[64];
        if (directory == AT_FDCWD) {
            if (syscall(SYS_getcwd, base, sizeof base) < 0) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
            ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
            if (length < 0) return 0;
            base[length] = 0;
        }
        if ((size_t)snprintf(out, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return 0;
    }
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/') out[--length] = 0;
    return is_below(out);
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

/* Whether this operation fails; errno says why. `needs_room` is false for what a full disk still does. */
static int fails(int needs_room) {
    long at = count++;
    if (fault_at < 0 || at < fault_at || (at > fault_at && !fault_stays)) return 0;
    if (fault_abort) {
        if (at == fault_at) kill(getpid(), 9);
        return 0;
    }
    if (fault_error == EMFILE) return 0;
    if ((fault_error == ENOSPC || fault_error == EDQUOT) && !needs_room) return 0;
    errno = fault_error;
    return 1;
}

/* Whether opening fails because there are no descriptors; counted from the same number on. */
static int no_descriptors(void) {
    if (fault_error != EMFILE || fault_at < 0) return 0;
    long at = count++;
    if (at < fault_at || (at > fault_at && !fault_stays)) return 0;
    errno = EMFILE;
    return 1;
}

static int kind_of(int fd) { return fd >= 0 && fd < MOST_FDS ? kinds[fd] : 0; }

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    if (!place_at(directory, path, whole)) return (int)syscall(SYS_openat, directory, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = -1;
    struct stat found;
    int is_new = (flags & O_CREAT) && fstatat(AT_FDCWD, whole, &found, AT_SYMLINK_NOFOLLOW) != 0;
    int cuts = !is_new && (flags & O_TRUNC);
    int refused = no_descriptors() || ((is_new || cuts) && fault_error != EMFILE && fails(is_new));
    if (!refused) {
        fd = (int)syscall(SYS_openat, directory, path, flags, mode);
        if (fd >= 0 && fd < MOST_FDS) {
            kinds[fd] = !fstat(fd, &found) && S_ISDIR(found.st_mode) ? 2 : 1;
            if (is_new) note(CREATE, found.st_ino, 0, whole, strlen(whole), "", 0);
            if (cuts) note(TRUNCATE, found.st_ino, 0, "", 0, "", 0);
        }
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return fd;
}

#define OPEN_MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { OPEN_MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { OPEN_MODE(flags) return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int at, const char *path, int flags, ...) { OPEN_MODE(flags) return open_at(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { OPEN_MODE(flags) return open_at(at, path, flags | O_LARGEFILE, mode); }

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < MOST_FDS) kinds[fd] = 0;
    int done = (int)syscall(SYS_close, fd), saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    long done = syscall(SYS_fcntl, fd, command, argument);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && done >= 0 && done < MOST_FDS) kinds[done] = (unsigned char)kind_of(fd);
    return (int)done;
}
int fcntl64(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl(fd, command, argument);
}

static ssize_t write_at(int fd, const void *bytes, size_t length, off_t offset, int has_offset) {
    if (fd == 1 && log_fd >= 0) {
        pthread_mutex_lock(&lock);
        ssize_t done = syscall(SYS_write, fd, bytes, length);
        int saved = errno;
        if (done > 0) note(SAID, 0, 0, bytes, (uint64_t)done, "", 0);
        pthread_mutex_unlock(&lock);
        errno = saved;
        return done;
    }
    if (kind_of(fd) != 1)
        return has_offset ? syscall(SYS_pwrite64, fd, bytes, length, offset) : syscall(SYS_write, fd, bytes, length);
    pthread_mutex_lock(&lock);
    ssize_t done = -1;
    if (!fails(1)) {
        off_t at = offset;
        if (!has_offset) {
            struct stat found;
            long flags = syscall(SYS_fcntl, fd, F_GETFL);
            at = (flags & O_APPEND) && !fstat(fd, &found) ? found.st_size : (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
        }
        done = has_offset ? syscall(SYS_pwrite64, fd, bytes, length, offset) : syscall(SYS_write, fd, bytes, length);
        if (done > 0) note(WRITE, inode_of(fd), (uint64_t)at, bytes, (uint64_t)done, "", 0);
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}

ssize_t write(int fd, const void *bytes, size_t length) { return write_at(fd, bytes, length, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return write_at(fd, bytes, length, offset, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return write_at(fd, bytes, length, offset, 1); }

ssize_t writev(int fd, const struct iovec *parts, int number) {
    if (kind_of(fd) != 1 && !(fd == 1 && log_fd >= 0)) return syscall(SYS_writev, fd, parts, number);
    ssize_t whole = 0;
    for (int at = 0; at < number; at++) {
        if (!parts[at].iov_len) continue;
        ssize_t done = write_at(fd, parts[at].iov_base, parts[at].iov_len, 0, 0);
        if (done < 0) return whole ? whole : done;
        whole += done;
        if ((size_t)done < parts[at].iov_len) break;
    }
    return whole;
}

/* Copies inside the kernel are not seen: whoever asks for one copies by reading and writing instead. */
ssize_t copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t length, unsigned flags) {
    if (kind_of(out) != 1) return syscall(SYS_copy_file_range, in, in_at, out, out_at, length, flags);
    errno = ENOSYS;
    return -1;
}
ssize_t sendfile(int out, int in, off_t *at, size_t length) {
    if (kind_of(out) != 1) return syscall(SYS_sendfile, out, in, at, length);
    errno = EINVAL;
    return -1;
}
ssize_t sendfile64(int out, int in, off_t *at, size_t length) { return sendfile(out, in, at, length); }

int ftruncate(int fd, off_t length) {
    if (kind_of(fd) != 1) return (int)syscall(SYS_ftruncate, fd, length);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(0)) {
        done = (int)syscall(SYS_ftruncate, fd, length);
        if (!done) note(TRUNCATE, inode_of(fd), (uint64_t)length, "", 0, "", 0);
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
int posix_fallocate(int fd, off_t offset, off_t length) {
    if (kind_of(fd) == 1) return EOPNOTSUPP;
    return syscall(SYS_fallocate, fd, 0, offset, length) ? errno : 0;
}

static int sync_fd(int fd, long call) {
    int kind = kind_of(fd);
    if (!kind) return (int)syscall(call, fd);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(0)) {
        done = (int)syscall(call, fd);
        char whole[PATH_MAX] = "", link[64];
        if (kind == 2) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, whole, sizeof whole - 1);
            whole[length > 0 ? length : 0] = 0;
        }
        if (!done) note(kind == 2 ? SYNC_DIR : SYNC, inode_of(fd), 0, whole, strlen(whole), "", 0);
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}
int fsync(int fd) { return sync_fd(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_fd(fd, SYS_fdatasync); }

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char one[PATH_MAX], two[PATH_MAX];
    int below = place_at(from_at, from, one);
    if (!place_at(to_at, to, two) || !below) return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags, MARK);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(0)) {
        done = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags, MARK);
        if (!done) note(RENAME, 0, 0, one, strlen(one), two, strlen(two));
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}
int renameat(int from_at, const char *from, int to_at, const char *to) { return renameat2(from_at, from, to_at, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int at, const char *path, int flags) {
    char whole[PATH_MAX];
    if (!place_at(at, path, whole)) return (int)syscall(SYS_unlinkat, at, path, flags, 0, 0, MARK);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(0)) {
        done = (int)syscall(SYS_unlinkat, at, path, flags, 0, 0, MARK);
        if (!done) note(REMOVE, 0, 0, whole, strlen(whole), "", 0);
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    int done = unlinkat(AT_FDCWD, path, 0);
    return done && errno == EISDIR ? rmdir(path) : done;
}

int mkdirat(int at, const char *path, mode_t mode) {
    char whole[PATH_MAX];
    if (!place_at(at, path, whole)) return (int)syscall(SYS_mkdirat, at, path, mode, 0, 0, MARK);
    struct stat found;
    /* To make what is there changes nothing. */
    if (!fstatat(AT_FDCWD, whole, &found, 0)) { errno = EEXIST; return -1; }
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(1)) {
        done = (int)syscall(SYS_mkdirat, at, path, mode, 0, 0, MARK);
        if (!done) note(MKDIR, 0, 0, whole, strlen(whole), "", 0);
    }
    int saved = errno;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* A call that was caught is made here in its place. */
static void caught(int signal, siginfo_t *info, void *context) {
    (void)signal;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const long long one = registers[REG_RDI], two = registers[REG_RSI], three = registers[REG_RDX];
    const long long four = registers[REG_R10], five = registers[REG_R8];
    int saved = errno, done;
    switch (info->si_syscall) {
    case SYS_rename: done = rename((const char *)one, (const char *)two); break;
    case SYS_renameat: done = renameat((int)one, (const char *)two, (int)three, (const char *)four); break;
    case SYS_renameat2: done = renameat2((int)one, (const char *)two, (int)three, (const char *)four, (unsigned)five); break;
    case SYS_unlink: done = unlink((const char *)one); break;
    case SYS_unlinkat: done = unlinkat((int)one, (const char *)two, (int)three); break;
    case SYS_rmdir: done = rmdir((const char *)one); break;
    case SYS_mkdir: done = mkdir((const char *)one, (mode_t)two); break;
    default: done = mkdirat((int)one, (const char *)two, (mode_t)three); break;
    }
    registers[REG_RAX] = done ? -errno : 0;
    errno = saved;
}
