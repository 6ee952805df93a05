/* A client made by gSOAP, for the tests of the services of benchd:

     client URL VERSION KEEPALIVE CALLS WHAT

   VERSION is 1.1 or 1.2; KEEPALIVE is 1 for one connection and 0 for one a call; WHAT is

     beans, text, records, document
                 an operation of the echo service
     action      text under the action of another operation, to get a fault
     header      text behind a header that must be understood, to get another
     SIZE        a number of bytes to attach, by MTOM, to a call of the attachment service

   It prints every value of each answer, a line each, so that the test and not this program
   says what is right. A fault is printed part by part and is no error. */
#include <signal.h>

#include "peer.h"

#include "EchoBinding.nsmap"

/* show prints a name and a text in quotes, in which all but plain ASCII is written in
   hexadecimal. */
static void show(const char *name, const char *text) {
  printf("%s ", name);
  if (!text) {
    printf("nil\n");
    return;
  }
  putchar('"');
  for (; *text; text++) {
    if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
      printf("\\x%02x", (unsigned char)*text);
    else
      putchar(*text);
  }
  printf("\"\n");
}

static void show_bean(const char *name, const struct b__Bean *bean) {
  if (!bean) {
    printf("%s nil\n", name);
    return;
  }
  printf("%s %d %.17g %d\n", name, bean->id, bean->balance, bean->active);
  show(" first", bean->firstName);
  show(" last", bean->lastName);
  show(" city", bean->city);
}

/* fault prints the parts of a fault, whatever it is called in its version of SOAP. */
static int fault(struct soap *soap) {
  const char *subcode = soap->version == 2 ? soap_fault_subcode(soap) : NULL;
  if (!soap->fault) {
    soap_print_fault(soap, stderr);
    return 1;
  }
  printf("fault 1.%d %d\n", soap->version == 2 ? 2 : 1, soap->status);
  show(" code", *soap_faultcode(soap));
  show(" subcode", subcode);
  show(" reason", soap_fault_string(soap));
  show(" detail", soap_fault_detail(soap));
  if (soap->header && soap->header->SOAP_ENV__NotUnderstood) show(" not understood", soap->header->SOAP_ENV__NotUnderstood->qname);
  return 0;
}

/* What is hard to carry: markup, white space of all kinds, letters of several lengths, the
   ends of the ranges, what is nil and what is empty. */
#define MARKUP "<a href=\"x\">&amp;]]>'"
#define BLANKS " \t\r\n\r \xc5\xbdlu\xc5\xa5ou\xc4\x8dk\xc3\xbd \xe9\xa6\xac \xf0\x9f\x90\x8e "

static struct b__Bean beans[3] = {
    {-2147483647 - 1, MARKUP, NULL, "", 5e-324, xsd__boolean__false_},
    {2147483647, NULL, BLANKS, "Brno", -1.7976931348623157e308, xsd__boolean__true_},
    {0, "", "", NULL, -0.0, xsd__boolean__true_},
};

/* recent tells whether the context writes SOAP 1.2. */
static int recent(struct soap *soap) { return !strcmp(soap->namespaces[0].ns, "http://www.w3.org/2003/05/soap-envelope"); }

static int call_beans(struct soap *soap, const char *url) {
  char *items[] = {"one", NULL, "", BLANKS};
  struct b__Bundle bundle = {&beans[0], &beans[1], &beans[2], NULL, 4, items};
  struct _b__echoBeans request = {&bundle};
  struct _b__echoBeansResponse answer;
  struct b__Bundle *got;
  if (recent(soap) ? soap_call___b__echoBeans_(soap, url, NULL, &request, &answer)
                         : soap_call___b__echoBeans(soap, url, NULL, &request, &answer))
    return 1;
  got = answer.return_;
  show_bean("a", got->a);
  show_bean("b", got->b);
  show_bean("c", got->c);
  show_bean("d", got->d);
  for (int i = 0; i < got->__sizeitems; i++) show("item", got->items[i]);
  return 0;
}

static int call_text(struct soap *soap, const char *url, const char *action) {
  struct _b__echoText request = {MARKUP BLANKS};
  struct _b__echoTextResponse answer;
  if (recent(soap) ? soap_call___b__echoText_(soap, url, action, &request, &answer)
                         : soap_call___b__echoText(soap, url, action, &request, &answer))
    return 1;
  show("text", answer.return_);
  return 0;
}

static int call_records(struct soap *soap, const char *url) {
  struct b__Bean *list[] = {&beans[0], &beans[1], NULL, &beans[2]};
  struct b__Records records = {4, list};
  struct _b__echoRecords request = {&records};
  struct _b__echoRecordsResponse answer;
  if (recent(soap) ? soap_call___b__echoRecords_(soap, url, NULL, &request, &answer)
                         : soap_call___b__echoRecords(soap, url, NULL, &request, &answer))
    return 1;
  for (int i = 0; i < answer.return_->__sizerecord; i++) show_bean("record", answer.return_->record[i]);
  return 0;
}

static int call_document(struct soap *soap, const char *url) {
  struct b__Duty duty = {"847130", "-0.125"}, bare = {NULL, "999999999999999.999"};
  struct b__Item one = {"pallet", 12, &duty}, two = {"", -2147483647 - 1, &bare}, three = {NULL, 0, NULL};
  struct b__Item *first[] = {&one, &two}, *second[] = {&three};
  struct b__Parcel a = {MARKUP, "12.45", 2, first}, b = {NULL, "0", 1, second}, c = {BLANKS, "7", 0, NULL};
  struct b__Parcel *parcels[] = {&a, &b, &c};
  struct b__Load load = {3, parcels};
  struct b__Party from = {"Novak", NULL};
  struct b__Shipment shipment = {"SN-1", "2024-02-29", &from, NULL, &load}, *got;
  struct _b__echoDocument request = {&shipment};
  struct _b__echoDocumentResponse answer;
  if (recent(soap) ? soap_call___b__echoDocument_(soap, url, NULL, &request, &answer)
                   : soap_call___b__echoDocument(soap, url, NULL, &request, &answer))
    return 1;
  got = answer.return_;
  show("number", got->number);
  show("sent", got->sent);
  show("from", got->from ? got->from->name : "nobody");
  show("in", got->from ? got->from->city : "nowhere");
  show("to", got->to ? got->to->name : NULL);
  for (int i = 0; i < got->load->__sizeparcel; i++) {
    const struct b__Parcel *parcel = got->load->parcel[i];
    show("parcel", parcel->mark);
    show(" weight", parcel->weight);
    for (int j = 0; j < parcel->__sizeitem; j++) {
      const struct b__Item *item = parcel->item[j];
      show(" item", item->article);
      printf("  pieces %d\n", item->pieces);
      show("  tariff", item->duty ? item->duty->tariff : NULL);
      show("  amount", item->duty ? item->duty->amount : NULL);
    }
  }
  return 0;
}

/* call_header sends a block that the service must understand, and does not. */
static int call_header(struct soap *soap, const char *url) {
  struct SOAP_ENV__Header header = {"token"};
  soap->header = &header;
  return call_text(soap, url, NULL);
}

static int call_store(struct soap *soap, const char *url, int size) {
  struct _a__store request;
  struct _a__storeResponse answer;
  unsigned char *bytes = soap_malloc(soap, size > 0 ? size : 1);
  for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(i * 31 + i / 256);
  memset(&request, 0, sizeof request);
  request.content.__ptr = bytes;
  request.content.__size = size;
  request.content.type = "application/octet-stream"; /* which makes an attachment of it */
  soap_set_omode(soap, SOAP_ENC_MTOM);
  if (recent(soap) ? soap_call___a__store_(soap, url, NULL, &request, &answer)
                   : soap_call___a__store(soap, url, NULL, &request, &answer))
    return 1;
  printf("stored %lld %08x of %08x\n", (long long)answer.length, answer.checksum, checksum(bytes, size));
  return 0;
}

static int call(struct soap *soap, const char *url, const char *what) {
  if (!strcmp(what, "beans")) return call_beans(soap, url);
  if (!strcmp(what, "text")) return call_text(soap, url, NULL);
  if (!strcmp(what, "records")) return call_records(soap, url);
  if (!strcmp(what, "document")) return call_document(soap, url);
  if (!strcmp(what, "action")) return call_text(soap, url, "urn:benchd:echo#echoBeans");
  if (!strcmp(what, "header")) return call_header(soap, url);
  return call_store(soap, url, atoi(what));
}

int main(int argc, char **argv) {
  struct soap *soap;
  if (argc != 6) {
    fprintf(stderr, "usage: client URL VERSION KEEPALIVE CALLS WHAT\n");
    return 2;
  }
  soap = soap_new1(PEER_MODE | (atoi(argv[3]) ? SOAP_IO_KEEPALIVE : 0));
  signal(SIGPIPE, SIG_IGN); /* a service may refuse a call before all of it is sent */
  soap->recv_timeout = soap->send_timeout = PEER_PATIENCE;
  speak(soap, argv[2]);
  for (int i = 0; i < atoi(argv[4]); i++) {
    if (call(soap, argv[1], argv[5]) && fault(soap)) return 1;
    soap_destroy(soap);
    soap_end(soap);
  }
  soap_free(soap);
  return 0;
}
