/* The attachment service for gSOAP's compiler, which makes C of it: document/literal wrapped,
   the content by XOP. It has no description in WSDL to make this from.

   SOAP_ENV__Header is the header of every message. The service of benchd knows no block of it:
   it refuses one that must be understood, and SOAP 1.2 (Part 1, section 5.4.8) has it say in
   another block which that was. */
#import "xop.h"

//gsoap a service name: attachment
//gsoap a service style: document
//gsoap a service encoding: literal
//gsoap a schema namespace: urn:benchd:attachment
//gsoap a schema form: qualified
//gsoap a service method-action: store urn:benchd:attachment#store

struct SOAP_ENV__NotUnderstood {
  @_QName qname 1;
};

struct SOAP_ENV__Header {
  mustUnderstand char *a__token 0;
  struct SOAP_ENV__NotUnderstood *SOAP_ENV__NotUnderstood 0;
};

struct a__Content {
  struct _xop__Include xop__Include 1;
};

struct a__storeResponse {
  LONG64 a__length 1;
  unsigned int a__checksum 1;
};

int a__store(struct a__Content a__content, struct a__storeResponse *response);
