/* A client made by gSOAP that calls as fast as it can, to compare speeds with:

     load URL PAYLOAD SIZE SECONDS

   PAYLOAD is beans or records and SIZE the bytes of the request's envelope, as of the kernel
   soap.echo. It prints calls per second, and MB of envelopes per second, there and back, one
   MB being 1,048,576 bytes. With TREE in the environment, here and at the server, gSOAP does not
   look for values that are pointed to twice. */
#define _GNU_SOURCE
#include <time.h>

#include "peer.h"

#include "EchoBinding.nsmap"

/* How long the envelope of the last request was. */
static long sent;
static int (*send_on)(struct soap *, const char *, size_t);

static int counting(struct soap *soap, const char *data, size_t size) {
  const char *end = size > 5 && !memcmp(data, "POST ", 5) ? memmem(data, size, "\r\n\r\n", 4) : NULL;
  if (end) sent = -(end + 4 - data);
  sent += size;
  return send_on(soap, data, size);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void stop(struct soap *soap, const char *reason) {
  fprintf(stderr, "%s\n", reason);
  if (soap->error) soap_print_fault(soap, stderr);
  exit(1);
}

static struct b__Bean example = {1000123, "Magdalena", "Svobodova", "Pardubice", 4711.5, xsd__boolean__true_};

/* Sixteen strings of a length. */
#define ITEMS 16
static char *items[ITEMS];

static void call_beans(struct soap *soap, const char *url, int length) {
  struct b__Bundle bundle = {&example, &example, &example, &example, ITEMS, items}, *got;
  struct _b__echoBeans request = {&bundle};
  struct _b__echoBeansResponse answer;
  for (int i = 0; i < ITEMS; i++)
    if (!items[i] || (int)strlen(items[i]) != length) {
      items[i] = realloc(items[i], length + 1);
      memset(items[i], 'a' + i, length);
      items[i][length] = 0;
    }
  if (soap_call___b__echoBeans(soap, url, NULL, &request, &answer)) stop(soap, "the call fails");
  got = answer.return_;
  if (got->d->id != example.id || got->__sizeitems != ITEMS || strcmp(got->items[ITEMS - 1], items[ITEMS - 1]))
    stop(soap, "the answer is wrong");
}

static void call_records(struct soap *soap, const char *url, int count) {
  static struct b__Bean **list;
  static int room;
  struct b__Records records = {count, NULL}, *got;
  struct _b__echoRecords request = {&records};
  struct _b__echoRecordsResponse answer;
  if (room < count) {
    list = realloc(list, count * sizeof *list);
    for (; room < count; room++) {
      list[room] = malloc(sizeof example);
      *list[room] = example;
      list[room]->id = 1000000 + room;
    }
  }
  records.record = list;
  if (soap_call___b__echoRecords(soap, url, NULL, &request, &answer)) stop(soap, "the call fails");
  got = answer.return_;
  if (got->__sizerecord != count || got->record[count - 1]->id != list[count - 1]->id ||
      strcmp(got->record[0]->city, example.city))
    stop(soap, "the answer is wrong");
}

int main(int argc, char **argv) {
  struct soap *soap = soap_new1(PEER_MODE | SOAP_IO_KEEPALIVE | (getenv("TREE") ? SOAP_XML_TREE : 0));
  void (*call)(struct soap *, const char *, int);
  long empty, calls = 0;
  int n = 1;
  double begun, ended;
  if (argc != 5) {
    fprintf(stderr, "usage: load URL PAYLOAD SIZE SECONDS\n");
    return 2;
  }
  call = strcmp(argv[2], "records") ? call_beans : call_records;
  speak(soap, "1.1");
  soap->max_keep_alive = 1 << 30;
  send_on = soap->fsend;
  soap->fsend = counting;
  /* From two envelopes follows which is of the size that is asked for. */
  call(soap, argv[1], 1);
  empty = sent;
  call(soap, argv[1], 11);
  n += (atol(argv[3]) - empty) / ((sent - empty) / 10);
  begun = now();
  do {
    call(soap, argv[1], n);
    soap_destroy(soap);
    soap_end(soap);
    calls++;
    ended = now();
  } while (ended - begun < atof(argv[4]));
  printf("%.1f %.2f %ld\n", calls / (ended - begun), calls * (2.0 * sent + 24) / (1 << 20) / (ended - begun), sent);
  return 0;
}
