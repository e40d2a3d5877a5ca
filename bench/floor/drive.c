/*
 * Drives a cache as hard as it can and does nothing else, to see what its server costs.
 *
 *   drive memcached|resp PORT load KEYS                       writes keys 0 .. KEYS
 *   drive memcached|resp PORT get KEYS CONNECTIONS DEPTH COUNT
 *
 * Keys have 32 bytes and values 100. Each connection sends DEPTH requests at once and, when all of
 * them are answered, the next. A reply is known by its length, so all must be hits. It prints
 * requests a second.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_BYTES = 100, MAX_EVENTS = 512 };

typedef struct {
    int fd;
    size_t awaited;
} Connection;

static int is_resp;
static unsigned port;
static long keys, depth, to_send, to_come;
static unsigned long next_key;
static size_t reply_bytes;
static char request[1 << 20], input[1 << 20];

static void fail(const char *what)
{
    fprintf(stderr, "drive: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connected(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);
        if (wrote <= 0)
            fail("write");
        bytes += wrote;
        length -= (size_t)wrote;
    }
}

static void load(void)
{
    char value[VALUE_BYTES + 1];
    int fd = connected();
    memset(value, 'v', VALUE_BYTES);
    value[VALUE_BYTES] = 0;
    for (long key = 0; key < keys; key++) {
        size_t length = (size_t)sprintf(request, is_resp
            ? "*3\r\n$3\r\nSET\r\n$32\r\n%032ld\r\n$100\r\n%s\r\n"
            : "set %032ld 0 0 100\r\n%s\r\n", key, value);
        write_all(fd, request, length);
        if (read(fd, input, sizeof input) <= 0 || (input[0] != 'S' && input[0] != '+'))
            fail("a write was refused");
    }
}

static void ask(Connection *connection)
{
    size_t length = 0;
    long requests = depth < to_send ? depth : to_send;
    for (long i = 0; i < requests; i++) {
        /* A stride that has no factor in common with the keys: in no order that helps a cache. */
        next_key = (next_key + 7919) % (unsigned long)keys;
        length += (size_t)sprintf(request + length, is_resp
            ? "*2\r\n$3\r\nGET\r\n$32\r\n%032lu\r\n" : "get %032lu\r\n", next_key);
    }
    to_send -= requests;
    connection->awaited = (size_t)requests * reply_bytes;
    if (length > 0)
        write_all(connection->fd, request, length);
}

static void hear(Connection *connection)
{
    ssize_t length = read(connection->fd, input, sizeof input);
    if (length <= 0 || (size_t)length > connection->awaited || (input[0] == 'E' && length == 5))
        fail("the reply is not the hit that was asked for");
    connection->awaited -= (size_t)length;
    to_come -= length;
    if (connection->awaited == 0)
        ask(connection);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void get(long connections, long count)
{
    Connection *all = calloc((size_t)connections, sizeof *all);
    struct epoll_event events[MAX_EVENTS];
    int poller = epoll_create1(0);
    reply_bytes = is_resp ? strlen("$100\r\n") + VALUE_BYTES + 2
        : strlen("VALUE  0 100\r\n") + 32 + VALUE_BYTES + strlen("\r\nEND\r\n");
    to_send = count;
    to_come = count * (long)reply_bytes;
    for (long i = 0; i < connections; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &all[i] };
        all[i].fd = connected();
        epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event);
    }
    double start = now_s();
    for (long i = 0; i < connections; i++)
        ask(&all[i]);
    while (to_come > 0) {
        if (connections == 1) {
            hear(&all[0]);
            continue;
        }
        int ready = epoll_wait(poller, events, MAX_EVENTS, -1);
        for (int i = 0; i < ready; i++)
            hear(events[i].data.ptr);
    }
    printf("%.0f\n", (double)count / (now_s() - start));
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "see the head of drive.c\n");
        return 2;
    }
    is_resp = strcmp(argv[1], "resp") == 0;
    port = (unsigned)atoi(argv[2]);
    keys = atol(argv[4]);
    if (strcmp(argv[3], "load") == 0) {
        load();
        return 0;
    }
    if (argc < 8)
        return 2;
    depth = atol(argv[6]);
    if (depth < 1 || depth * 80 > (long)sizeof request || keys < 1)
        return 2;
    get(atol(argv[5]), atol(argv[7]));
    return 0;
}
