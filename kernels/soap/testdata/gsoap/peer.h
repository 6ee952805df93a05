/* What server, client and speed share. */
#ifndef PEER_H
#define PEER_H

#include "soapH.h"

/* Both sides keep text in UTF-8, of which gSOAP would make Latin-1 and lose the rest, and
   write what is nil in lists, which it would leave out. */
#define PEER_MODE (SOAP_C_UTFSTRING | SOAP_XML_NIL)

/* How long either side waits for the other, in seconds, before it gives up. */
#define PEER_PATIENCE 60

/* CRC-32 of ISO/IEC 8802-3, bit by bit: what the attachment service acknowledges with. */
static unsigned int checksum(const unsigned char *p, size_t n) {
  unsigned int c = ~0u;
  while (n--) {
    c ^= *p++;
    for (int i = 0; i < 8; i++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
  }
  return ~c;
}

/* speak makes a context write SOAP 1.1 or 1.2. It reads both, and a service answers as it was
   asked. The table that gSOAP has made of the description begins with SOAP 1.2. */
static void speak(struct soap *soap, const char *version) {
  static struct Namespace old[32];
  int n = 0;
  if (!strcmp(version, "1.2")) return;
  do old[n] = soap->namespaces[n];
  while (soap->namespaces[n++].id && n < 32);
  old[0].ns = "http://schemas.xmlsoap.org/soap/envelope/";
  old[0].in = "http://www.w3.org/*/soap-envelope";
  old[1].ns = "http://schemas.xmlsoap.org/soap/encoding/";
  old[1].in = "http://www.w3.org/*/soap-encoding";
  soap_set_namespaces(soap, old);
}

#endif
