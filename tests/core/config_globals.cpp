// SPDX-License-Identifier: MIT
// The library, a using-directive, then a user's globals and the headers of C and POSIX.
#include <tessera/tessera.hpp>

using namespace tessera;

#include <catch2/catch.hpp>

#include "core/config_globals.hpp"
#include "core/config_globals_used.hpp"

#include <aio.h>
#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <monetary.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nl_types.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/param.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <utime.h>
#include <utmpx.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

TEST_CASE("config: a user's globals behind the library are the user's") {
  CHECK(sum_of_globals() == 60 * 61 / 2);
  CHECK(types_are_the_users());
  CHECK(functions_are_the_users());
}

TEST_CASE("config: functions of C beside the library's of the same name") {
  void (*const report)(int, int, char const*, ...) = error;
  CHECK(report != nullptr);
  CHECK(pow(2.0, 3.0) == 8);
  CHECK(abs(-3) == 3);
  CHECK(sqrt(4.0) + exp(0.0) + log1p(0.0) + erf(0.0) + tanh(0.0) == 3);
  CHECK(y0(1.0) < j0(1.0));
  CHECK(yn(1, 1.0) == y1(1.0));
  CHECK(*index("abc", 'b') == 'b');
  CHECK(div(7, 2).rem == 1);
}
