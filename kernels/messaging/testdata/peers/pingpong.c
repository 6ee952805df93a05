/* pingpong BYTES SECONDS: round trips a second of so many bytes between two processes over one
   connection of the loopback, without Nagle's algorithm. It is the floor as a program in C has it. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(int failed, const char *what) {
  if (failed) {
    perror(what);
    exit(1);
  }
}

/* get reads all of the message; it ends the process with the connection. */
static void get(int fd, char *message, size_t size) {
  for (size_t at = 0; at < size;) {
    ssize_t n = read(fd, message + at, size - at);
    if (n <= 0) exit(n < 0);
    at += (size_t)n;
  }
}

static void put(int fd, const char *message, size_t size) {
  for (size_t at = 0; at < size;) {
    ssize_t n = write(fd, message + at, size - at);
    check(n <= 0, "write");
    at += (size_t)n;
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t size = strtoul(argv[1], 0, 10);
  double length = strtod(argv[2], 0);
  char *message = calloc(1, size);
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t room = sizeof at;
  check(bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
          getsockname(listener, (struct sockaddr *)&at, &room), "listen");
  if (fork() == 0) {
    int fd = accept(listener, 0, 0);
    check(fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "accept");
    for (;;) {
      get(fd, message, size);
      put(fd, message, size);
    }
  }
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(fd, (struct sockaddr *)&at, sizeof at) || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "connect");
  long trips = 0;
  double begun = seconds(), now = begun;
  while (now - begun < length) {
    put(fd, message, size);
    get(fd, message, size);
    trips++;
    now = seconds();
  }
  printf("%.0f\n", (double)trips / (now - begun));
  return 0;
}
