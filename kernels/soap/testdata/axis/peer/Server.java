package peer;

import java.io.FileInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.apache.axis.configuration.XMLStringProvider;
import org.apache.axis.deployment.wsdd.WSDDConstants;
import org.apache.axis.deployment.wsdd.WSDDDocument;
import org.apache.axis.transport.http.SimpleAxisServer;
import org.apache.axis.utils.XMLUtils;

/**
 * The echo service in Axis' own small server: Server DEPLOYMENT, where that is the file that
 * WSDL2Java wrote beside the skeleton. It listens on a random port of the loopback, and prints
 * its address.
 */
public final class Server {
  /** The least that Axis has to be told: a request's path names its service. */
  private static final String TRANSPORT =
      "<transport name='http'><requestFlow>"
          + "<handler type='java:org.apache.axis.handlers.http.URLMapper'/>"
          + "</requestFlow></transport>";

  public static void main(String[] args) throws Exception {
    XMLStringProvider config =
        new XMLStringProvider(
            "<deployment xmlns='" + WSDDConstants.URI_WSDD + "' xmlns:java='" + WSDDConstants.URI_WSDD_JAVA + "'>"
                + TRANSPORT + "</deployment>");
    SimpleAxisServer server = new SimpleAxisServer();
    server.setMyConfig(config);
    ServerSocket socket = new ServerSocket(0, 128, InetAddress.getByName("127.0.0.1"));
    server.setServerSocket(socket);
    server.getAxisServer(); // which reads the configuration
    try (FileInputStream in = new FileInputStream(args[0])) {
      new WSDDDocument(XMLUtils.newDocument(in)).deploy(config.getDeployment());
    }
    System.out.println("http://127.0.0.1:" + socket.getLocalPort() + "/axis/services/EchoPort");
    server.run();
  }
}
