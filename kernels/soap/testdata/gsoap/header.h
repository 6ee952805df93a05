/* The header of every message, for gSOAP's compiler. The services of benchd know no block of it:
   they refuse one that must be understood, and SOAP 1.2 (Part 1, section 5.4.8) has them say in
   another block which that was. */
struct SOAP_ENV__NotUnderstood {
  @_QName qname 1;
};

struct SOAP_ENV__Header {
  mustUnderstand char *b__token 0;
  struct SOAP_ENV__NotUnderstood *SOAP_ENV__NotUnderstood 0;
};
