/* Makes syncing a file take longer, for `run.sh adds --slower-sync`: to be preloaded.
 *
 * A disk that syncs in a tenth of a millisecond makes everything else that an add costs look large. This
 * shows the same store on a disk as most have: every fsync and fdatasync of the process, the measuring
 * loop's as the store's, first waits the microseconds that SLOWER_SYNC names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int sync_later(const char *name, int file) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    const char *given = getenv("SLOWER_SYNC");
    long microseconds = given ? atol(given) : 0;
    struct timespec wait = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&wait, NULL);
    return real(file);
}

int fsync(int file) { return sync_later("fsync", file); }

int fdatasync(int file) { return sync_later("fdatasync", file); }
