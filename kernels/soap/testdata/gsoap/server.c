/* An echo and an attachment service made by gSOAP, for the tests of the kernels soap.echo and
   soap.attachment: at any path but one. At /fault every call is answered with a fault.

     server          listens on a random port of the loopback and prints its address
     server PORT     listens on that one

   It serves each connection in a thread of its own, since lanes keep theirs. With TREE in the
   environment gSOAP does not look for values that are pointed to twice. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>

#include "peer.h"

#include "EchoBinding.nsmap"

/* refuse answers calls at /fault: with a subcode and a detail, so that a client has all parts
   of a fault to read. A fault has no place for what is nil. */
static int refuse(struct soap *soap) {
  if (strcmp(soap->path, "/fault")) return SOAP_OK;
  soap_clr_omode(soap, SOAP_XML_NIL);
  return soap_sender_fault_subcode(soap, "b:Refused", "this path refuses every call",
                                   "<e:reason xmlns:e=\"urn:benchd:echo\">by its name &amp; nature</e:reason>");
}

/* Every operation of the description sends back what it was sent, and there is each by SOAP
   1.1 and, with an underscore, by SOAP 1.2. The build lists them in operations.h. */
#define OPERATION(name)                                                                                    \
  int __b__##name(struct soap *soap, struct _b__##name *request, struct _b__##name##Response *answer) {    \
    answer->return_ = request->in;                                                                         \
    return refuse(soap);                                                                                   \
  }                                                                                                        \
  int __b__##name##_(struct soap *soap, struct _b__##name *request, struct _b__##name##Response *answer) { \
    return __b__##name(soap, request, answer);                                                             \
  }
#include "operations.h"
#undef OPERATION

int __a__store(struct soap *soap, struct _a__store *request, struct _a__storeResponse *answer) {
  answer->length = request->content.__size;
  answer->checksum = checksum(request->content.__ptr, request->content.__size);
  return refuse(soap);
}

int __a__store_(struct soap *soap, struct _a__store *request, struct _a__storeResponse *answer) {
  return __a__store(soap, request, answer);
}

static void *serve(void *connection) {
  struct soap *soap = connection;
  pthread_detach(pthread_self());
  soap_serve(soap);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return NULL;
}

int main(int argc, char **argv) {
  struct soap *soap = soap_new1(PEER_MODE | SOAP_IO_KEEPALIVE | (getenv("TREE") ? SOAP_XML_TREE : 0));
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  signal(SIGPIPE, SIG_IGN);
  soap->bind_flags = SO_REUSEADDR;
  soap->max_keep_alive = 1 << 30;
  soap->recv_timeout = soap->send_timeout = PEER_PATIENCE;
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, 128)) ||
      getsockname(soap->master, (struct sockaddr *)&address, &length)) {
    soap_print_fault(soap, stderr);
    return 1;
  }
  printf("http://127.0.0.1:%d/echo\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    struct soap *connection;
    pthread_t thread;
    if (!soap_valid_socket(soap_accept(soap))) continue;
    if (!(connection = soap_copy(soap)) || pthread_create(&thread, NULL, serve, connection)) {
      fprintf(stderr, "no memory or no thread for a connection\n");
      return 1;
    }
  }
}
