/*
 * The yardstick: the barest loop that drives memcached or Redis and times every reply.
 *
 *   bare PROTOCOL OP HOST PORT CONNECTIONS DEPTH COUNT KEYS_FILE [LATENCIES_FILE|- [wait]]
 *
 * PROTOCOL is `memcached` or `resp`; OP is `get`, `set`, or for memcached `get:K`, which asks for K
 * keys in each request. KEYS_FILE is a stream file of Roundtrip (workers/CONTRACT.md); its keys are
 * taken in order, over and over. COUNT is counted in keys.
 *
 * One connection blocks; more wait on one epoll, level triggered. A connection has DEPTH requests
 * sent in one call and, once all of them are answered, the next. The clock is read once after
 * each recv, and that reading serves every reply that came with it and is the start of what is
 * sent next. Requests are made before the clock starts. Contents are not looked at: a reply is
 * known by its length.
 *
 * With `wait` it says `ready` and starts when a line comes on its standard input. It prints one
 * line of JSON. With LATENCIES_FILE every service time goes there, as workers/CONTRACT.md has it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 512, HEADER_BYTES = 20, RECORD_BYTES = 7 };

typedef struct {
    const unsigned char *key, *value;
    uint32_t key_bytes, value_bytes;
} Operation;

typedef struct {
    int fd;
    uint32_t awaited;   /* replies that are still to come */
    uint64_t sent_at;
    char *rest;         /* the start of a reply whose end is still to come */
    size_t rest_bytes, rest_room;
} Connection;

static int is_resp, is_set;
static uint32_t keys_each = 1;          /* keys a request */
static uint32_t depth;
static Operation *operations;
static uint64_t operation_count;
static char *requests;                  /* all of them, one behind the other */
static size_t *request_at;              /* where each begins; one more than there are */
static uint64_t request_count, cursor, to_send, to_come, hits, replies;
static uint64_t *latencies;
static char *input;
static size_t input_room = 256 << 10;

__attribute__((noreturn)) static void fail(const char *what)
{
    fprintf(stderr, "bare: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

static void *must(void *memory)
{
    if (!memory)
        fail("out of memory");
    return memory;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (errno || *end || end == text || n < 1 || n > most) {
        errno = 0;
        fail("a number is out of range; see the head of bare.c");
    }
    return n;
}

/* ---- what is asked ---- */

static void read_operations(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) < 0)
        fail(path);
    size_t size = (size_t)about.st_size;
    unsigned char *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED || size < HEADER_BYTES || memcmp(bytes, "RTSTREAM\1\0\0\0", 12))
        fail("that is no stream file");
    memcpy(&operation_count, bytes + 12, 8);
    if (operation_count == 0 || operation_count > size / RECORD_BYTES)
        fail("a stream file with a wrong count");
    operations = must(calloc(operation_count, sizeof *operations));
    size_t at = HEADER_BYTES;
    for (uint64_t i = 0; i < operation_count; i++) {
        uint16_t key_bytes;
        uint32_t value_bytes;
        if (size - at < RECORD_BYTES)
            fail("a stream file that is cut short");
        memcpy(&key_bytes, bytes + at, 2);
        memcpy(&value_bytes, bytes + at + 2, 4);
        at += RECORD_BYTES;
        if (size - at < (size_t)key_bytes + value_bytes)
            fail("a stream file that is cut short");
        operations[i] = (Operation){ bytes + at, bytes + at + key_bytes, key_bytes, value_bytes };
        at += (size_t)key_bytes + value_bytes;
    }
}

static char *put(char *out, const void *bytes, size_t count)
{
    memcpy(out, bytes, count);
    return out + count;
}

static char *write_request(char *out, uint64_t first)
{
    const Operation *o = &operations[first % operation_count];
    if (is_resp) {
        out += sprintf(out, is_set ? "*3\r\n$3\r\nSET\r\n$%u\r\n" : "*2\r\n$3\r\nGET\r\n$%u\r\n", o->key_bytes);
        out = put(put(out, o->key, o->key_bytes), "\r\n", 2);
        if (is_set) {
            out += sprintf(out, "$%u\r\n", o->value_bytes);
            out = put(put(out, o->value, o->value_bytes), "\r\n", 2);
        }
    } else if (is_set) {
        out = put(put(out, "set ", 4), o->key, o->key_bytes);
        out += sprintf(out, " 0 0 %u\r\n", o->value_bytes);
        out = put(put(out, o->value, o->value_bytes), "\r\n", 2);
    } else {
        out = put(out, "get", 3);
        for (uint32_t k = 0; k < keys_each; k++) {
            o = &operations[(first + k) % operation_count];
            out = put(put(out, " ", 1), o->key, o->key_bytes);
        }
        out = put(out, "\r\n", 2);
    }
    return out;
}

/* Every request that differs, and behind them the first ones again, so that a batch is one piece. */
static void make_requests(void)
{
    request_count = operation_count / keys_each;
    if (request_count == 0 || operation_count % keys_each) {
        errno = 0;
        fail("the stream's count is not a multiple of the keys a request");
    }
    uint64_t made = request_count + depth;
    size_t room = 0;
    for (uint64_t r = 0; r < made; r++) {
        room += 64;
        for (uint32_t k = 0; k < keys_each; k++) {
            const Operation *o = &operations[(r * keys_each + k) % operation_count];
            room += 1 + o->key_bytes + (is_set ? o->value_bytes : 0);
        }
    }
    requests = must(malloc(room));
    request_at = must(calloc(made + 1, sizeof *request_at));
    char *out = requests;
    for (uint64_t r = 0; r < made; r++) {
        request_at[r] = (size_t)(out - requests);
        out = write_request(out, r * keys_each);
    }
    request_at[made] = (size_t)(out - requests);
}

/* ---- the loop ---- */

static void send_next(Connection *c)
{
    uint32_t batch = to_send < depth ? (uint32_t)to_send : depth;
    if (batch == 0)
        return;
    const char *from = requests + request_at[cursor];
    size_t left = request_at[cursor + batch] - request_at[cursor];
    while (left > 0) {
        ssize_t sent = send(c->fd, from, left, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            fail("send");
        if (sent > 0) {
            from += sent;
            left -= (size_t)sent;
        }
    }
    c->awaited = batch;
    to_send -= batch;
    cursor += batch;
    if (cursor >= request_count)
        cursor -= request_count;
}

/* The length of the reply at `p`, or 0 when its end has not come. */
static inline size_t reply_length(const char *p, const char *end)
{
    const char *start = p;
    if (is_set) {
        size_t length = is_resp ? 5 : 8;
        if ((size_t)(end - p) < length)
            return 0;
        if (memcmp(p, is_resp ? "+OK\r\n" : "STORED\r\n", length))
            fail("a set was refused");
        return length;
    }
    uint32_t found = 0;
    for (;;) {
        if (p == end)
            return 0;
        if (*p != (is_resp ? '$' : 'V')) {
            if (end - p < 5)
                return 0;
            if (is_resp || memcmp(p, "END\r\n", 5))
                fail("a reply that is none");
            hits += found;
            return (size_t)(p + 5 - start);
        }
        const char *line = memchr(p, '\n', (size_t)(end - p));
        if (!line)
            return 0;
        size_t value = 0;
        const char *digits = p + 1;
        if (!is_resp)
            for (digits = line; digits[-1] != ' '; digits--)
                ;
        else if (*digits == '-')
            return (size_t)(line + 1 - start);
        while (*digits >= '0' && *digits <= '9')
            value = value * 10 + (size_t)(*digits++ - '0');
        if ((size_t)(end - line) < value + 3)
            return 0;
        p = line + 1 + value + 2;
        if (is_resp) {
            hits++;
            return (size_t)(p - start);
        }
        found++;
    }
}

/* Takes what came; gives when. */
static uint64_t receive(Connection *c)
{
    if (c->rest_bytes > input_room / 2)
        input = must(realloc(input, input_room *= 2));
    if (c->rest_bytes)
        memcpy(input, c->rest, c->rest_bytes);
    ssize_t came;
    while ((came = recv(c->fd, input + c->rest_bytes, input_room - c->rest_bytes, 0)) < 0 && errno == EINTR)
        ;
    uint64_t at = now_ns();
    if (came <= 0) {
        errno = came ? errno : 0;
        fail("the server closed the connection");
    }
    const char *p = input, *end = input + c->rest_bytes + came;
    uint64_t latency = at - c->sent_at;
    size_t length;
    while (c->awaited && (length = reply_length(p, end))) {
        p += length;
        c->awaited--;
        for (uint32_t k = 0; k < keys_each; k++)
            latencies[replies++] = latency;
        to_come--;
    }
    c->rest_bytes = (size_t)(end - p);
    if (c->rest_bytes > c->rest_room)
        c->rest = must(realloc(c->rest, c->rest_room = c->rest_bytes * 2));
    if (c->rest_bytes)
        memcpy(c->rest, p, c->rest_bytes);
    return at;
}

static void run_one(Connection *c)
{
    c->sent_at = now_ns();
    while (to_come) {
        send_next(c);
        uint64_t at;
        do
            at = receive(c);
        while (c->awaited);
        c->sent_at = at;
    }
}

static void run_many(Connection *connections, uint32_t count)
{
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (poll < 0)
        fail("epoll_create1");
    for (uint32_t i = 0; i < count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };
        if (epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event) < 0)
            fail("epoll_ctl");
        connections[i].sent_at = now_ns();
        send_next(&connections[i]);
    }
    struct epoll_event events[MAX_EVENTS];
    while (to_come) {
        int ready = epoll_wait(poll, events, MAX_EVENTS, -1);
        if (ready < 0 && errno != EINTR)
            fail("epoll_wait");
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            uint64_t at = receive(c);
            if (!c->awaited) {
                c->sent_at = at;
                send_next(c);
            }
        }
    }
}

/* ---- around it ---- */

static int connect_to(const char *host, const char *port)
{
    struct addrinfo ask = { .ai_socktype = SOCK_STREAM }, *found, *a;
    if (getaddrinfo(host, port, &ask, &found))
        fail("the host has no address");
    int fd = -1, one = 1;
    for (a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
        fail("connect");
    return fd;
}

static uint64_t ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void write_latencies(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(latencies, sizeof *latencies, replies, file) != replies || fclose(file))
        fail(path);
}

static void understand(char **argv)
{
    is_resp = !strcmp(argv[1], "resp");
    is_set = !strcmp(argv[2], "set");
    if (!strncmp(argv[2], "get:", 4) && !is_resp)
        keys_each = (uint32_t)number(argv[2] + 4, 10000);
    else if (!is_set && strcmp(argv[2], "get"))
        fail("OP is get, set, or for memcached get:K");
    if (!is_resp && strcmp(argv[1], "memcached"))
        fail("PROTOCOL is memcached or resp");
    depth = (uint32_t)number(argv[6], 1000000);
}

int main(int argc, char **argv)
{
    if (argc < 9)
        fail("usage: bare PROTOCOL OP HOST PORT CONNECTIONS DEPTH COUNT KEYS_FILE [LATENCIES_FILE|- [wait]]");
    understand(argv);
    uint32_t count = (uint32_t)number(argv[5], 100000);
    uint64_t ops = number(argv[7], UINT64_C(1) << 40);
    if (ops % keys_each)
        fail("COUNT is not a multiple of the keys a request");
    read_operations(argv[8]);
    if (depth > operation_count / keys_each)
        fail("DEPTH is more than the stream has requests");
    make_requests();
    to_send = to_come = ops / keys_each;
    latencies = must(malloc(ops * sizeof *latencies));
    memset(latencies, 1, ops * sizeof *latencies);   /* its pages are there before the clock starts */
    input = must(malloc(input_room));
    memset(input, 0, input_room);
    Connection *connections = must(calloc(count, sizeof *connections));
    for (uint32_t i = 0; i < count; i++)
        connections[i].fd = connect_to(argv[3], argv[4]);
    if (argc > 10) {
        puts("ready");
        fflush(stdout);
        if (getchar() == EOF)
            return 0;
    }
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uint64_t started = now_ns();
    if (count == 1)
        run_one(connections);
    else
        run_many(connections, count);
    uint64_t ended = now_ns();
    getrusage(RUSAGE_SELF, &after);
    if (argc > 9 && strcmp(argv[9], "-"))
        write_latencies(argv[9]);
    qsort(latencies, replies, sizeof *latencies, by_size);
    printf("{\"wall_ns\":%lu,\"user_ns\":%lu,\"sys_ns\":%lu,\"ops\":%lu,\"hits\":%lu,\"p50_ns\":%lu,\"p99_ns\":%lu,"
           "\"started_ns\":%lu,\"ended_ns\":%lu}\n",
           ended - started, ns(after.ru_utime) - ns(before.ru_utime), ns(after.ru_stime) - ns(before.ru_stime),
           replies, hits, latencies[replies / 2], latencies[replies * 99 / 100], started, ended);
    return 0;
}
