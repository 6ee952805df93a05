package peer;

import echo.Bean;
import echo.Bundle;
import echo.EchoBindingStub;
import echo.EchoServiceLocator;
import java.net.URL;
import org.apache.axis.AxisFault;
import org.apache.axis.message.SOAPHeaderElement;

/**
 * A client of the echo service by the stub that WSDL2Java made: Client URL CALLS [header]. With
 * the last it sends a header block that must be understood, to get a fault.
 *
 * <p>It prints every value of each answer, a line each, so that the test and not this program
 * says what is right. A fault is printed part by part and is no error.
 */
public final class Client {
  private static final String MARKUP = "<a href=\"x\">&amp;]]>'";
  private static final String BLANKS = " \t\r\n\r \u017dlu\u0165ou\u010dk\u00fd \u99ac ";

  public static void main(String[] args) throws Exception {
    EchoBindingStub stub = (EchoBindingStub) new EchoServiceLocator().getEchoPort(new URL(args[0]));
    if (args.length > 2) {
      SOAPHeaderElement block = new SOAPHeaderElement("urn:benchd:attachment", "token", "token");
      block.setMustUnderstand(true);
      stub.setHeader(block);
    }
    for (int i = Integer.parseInt(args[1]); i > 0; i--) {
      try {
        show(stub.echoBeans(bundle()));
      } catch (AxisFault fault) {
        System.out.println("fault");
        show(" code", fault.getFaultCode().getNamespaceURI() + "#" + fault.getFaultCode().getLocalPart());
        show(" reason", fault.getFaultString());
      }
    }
  }

  /** What is hard to carry, as the client made by gSOAP sends it. */
  private static Bundle bundle() {
    Bean a = bean(Integer.MIN_VALUE, MARKUP, null, "", Double.MIN_VALUE, false);
    Bean b = bean(Integer.MAX_VALUE, null, BLANKS, "Brno", -Double.MAX_VALUE, true);
    Bean c = bean(0, "", "", null, -0.0, true);
    return new Bundle(a, b, c, null, new String[] {"one", null, "", BLANKS});
  }

  private static Bean bean(int id, String first, String last, String city, double balance, boolean active) {
    return new Bean(id, first, last, city, balance, active);
  }

  private static void show(Bundle bundle) {
    show("a", bundle.getA());
    show("b", bundle.getB());
    show("c", bundle.getC());
    show("d", bundle.getD());
    for (String item : bundle.getItems()) {
      show("item", item);
    }
  }

  private static void show(String name, Bean bean) {
    if (bean == null) {
      System.out.println(name + " nil");
      return;
    }
    System.out.println(name + " " + bean.getId() + " " + bean.getBalance() + " " + (bean.isActive() ? 1 : 0));
    show(" first", bean.getFirstName());
    show(" last", bean.getLastName());
    show(" city", bean.getCity());
  }

  /** Prints a text in quotes, in which all but plain ASCII is written in hexadecimal. */
  private static void show(String name, String text) {
    if (text == null) {
      System.out.println(name + " nil");
      return;
    }
    StringBuilder line = new StringBuilder(name).append(" \"");
    for (byte b : text.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
      boolean plain = b >= ' ' && b <= '~' && b != '"' && b != '\\';
      line.append(plain ? String.valueOf((char) b) : String.format("\\x%02x", b));
    }
    System.out.println(line.append('"'));
  }
}
