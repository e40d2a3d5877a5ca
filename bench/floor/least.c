/*
 * The least that the kernel allows: a server that answers every request with the same reply and
 * does not look at it.
 *
 *   least memcached|resp PORT epoll
 *
 * One thread waits for sockets, receives, counts the bytes that came and sends as many replies as
 * requests of 32-byte keys fit in them. A write of drive.c's `load` is told by its first bytes and
 * answered as one. What it costs is what waiting, receiving and sending cost: no key is found, no
 * request is parsed, and all replies leave from one place in memory.
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
#include <unistd.h>

enum { VALUE_BYTES = 100, KEY_BYTES = 32, MOST_REPLIES = 4096, MAX_EVENTS = 256, MAX_FDS = 65536 };

static char input[64 << 10];
static char *replies;
static size_t left_over[MAX_FDS];

static void fail(const char *what)
{
    fprintf(stderr, "least: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        length -= (size_t)sent;
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "see the head of least.c\n");
        return 2;
    }
    int is_resp = strcmp(argv[1], "resp") == 0, one = 1;
    char value[VALUE_BYTES + 1], key[KEY_BYTES + 1], reply[256], request[256];
    memset(value, 'v', VALUE_BYTES);
    memset(key, '0', KEY_BYTES);
    value[VALUE_BYTES] = key[KEY_BYTES] = 0;
    size_t request_bytes = (size_t)sprintf(request, is_resp
        ? "*2\r\n$3\r\nGET\r\n$32\r\n%s\r\n" : "get %s\r\n", key);
    size_t reply_bytes = (size_t)(is_resp ? sprintf(reply, "$100\r\n%s\r\n", value)
        : sprintf(reply, "VALUE %s 0 100\r\n%s\r\nEND\r\n", key, value));
    const char *stored = is_resp ? "+OK\r\n" : "STORED\r\n";
    replies = malloc(reply_bytes * MOST_REPLIES);
    for (size_t i = 0; i < MOST_REPLIES; i++)
        memcpy(replies + i * reply_bytes, reply, reply_bytes);

    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2])) };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0), poller = epoll_create1(0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, 1024) < 0)
        fail("listen");
    struct epoll_event event = { .events = EPOLLIN, .data.fd = listener }, events[MAX_EVENTS];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poller, events, MAX_EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                fd = accept(listener, NULL, NULL);
                if (fd < 0 || fd >= MAX_FDS)
                    continue;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                left_over[fd] = 0;
                event.data.fd = fd;
                epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
                continue;
            }
            ssize_t came = recv(fd, input, sizeof input, 0);
            if (came <= 0) {
                close(fd);
                continue;
            }
            if (left_over[fd] == 0 && (memcmp(input, "set ", 4) == 0 || memcmp(input, "*3", 2) == 0)) {
                send_all(fd, stored, strlen(stored));
                continue;
            }
            size_t bytes = left_over[fd] + (size_t)came;
            left_over[fd] = bytes % request_bytes;
            send_all(fd, replies, bytes / request_bytes * reply_bytes);
        }
    }
}
