import com.ericsson.otp.erlang.*;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * The jinterface end of the tests.
 *
 * <p>Echo serve NAME COOKIE: a node with the mailbox echo; says "up" and echoes until killed.
 * <p>Echo ask NAME COOKIE NODE: asks the process echo of NODE in every way; says "ok".
 * <p>Echo rate NAME COOKIE NODE CLIENTS SECONDS: how many times a second so many mailboxes
 * of one node were answered, each used by a thread of its own.
 * <p>Echo mailbox NAME COOKIE SECONDS: how many times a second a message went from one mailbox
 * of the node to another and back, all in one thread.
 *
 * <p>The echo answers a pid with five bytes, {Pid, Ref, Anything} with {Ref, Anything}, and
 * {Pid, Anything} with Anything.
 */
public class Echo {
  static final OtpErlangObject FIVE = new OtpErlangBinary(new byte[] {1, 2, 3, 4, 5});
  static final int PATIENCE = 10000;

  public static void main(String[] a) throws Exception {
    OtpNode node = new OtpNode(a[1], a[2]);
    switch (a[0]) {
      case "serve" -> serve(node);
      case "ask" -> ask(node, a[3]);
      case "rate" -> rate(node, a[3], Integer.parseInt(a[4]), Double.parseDouble(a[5]));
      case "mailbox" -> mailbox(node, Double.parseDouble(a[3]));
      default -> throw new IllegalArgumentException(a[0]);
    }
    System.exit(0);
  }

  static void serve(OtpNode node) throws Exception {
    OtpMbox box = node.createMbox("echo");
    System.out.println("up");
    for (;;) {
      OtpErlangObject o = box.receive();
      if (o instanceof OtpErlangPid pid) {
        box.send(pid, FIVE);
      } else if (o instanceof OtpErlangTuple t && t.arity() == 3) {
        box.send((OtpErlangPid) t.elementAt(0), tuple(t.elementAt(1), t.elementAt(2)));
      } else if (o instanceof OtpErlangTuple t && t.arity() == 2) {
        box.send((OtpErlangPid) t.elementAt(0), t.elementAt(1));
      }
    }
  }

  static OtpErlangTuple tuple(OtpErlangObject... elements) {
    return new OtpErlangTuple(elements);
  }

  static void ask(OtpNode node, String other) throws Exception {
    if (!node.ping(other, PATIENCE)) {
      throw new Exception("no ping");
    }
    OtpMbox box = node.createMbox();
    box.send("echo", other, box.self());
    same(FIVE, box.receive(PATIENCE));
    byte[] large = new byte[1 << 20];
    Arrays.fill(large, (byte) 7);
    OtpErlangObject[] terms = {
      new OtpErlangLong(0), new OtpErlangLong(-1), new OtpErlangLong(1L << 40),
      new OtpErlangLong(BigInteger.ONE.shiftLeft(3000)), new OtpErlangDouble(1.5), new OtpErlangAtom("ok"),
      new OtpErlangAtom("\u00f6\u0438"), new OtpErlangBinary(new byte[0]), new OtpErlangBinary(large), tuple(),
      tuple(new OtpErlangLong(1), tuple(new OtpErlangAtom("a"))), new OtpErlangList(), new OtpErlangString("text"),
      new OtpErlangList(new OtpErlangObject[] {new OtpErlangAtom("a"), new OtpErlangAtom("b")}),
      new OtpErlangMap(new OtpErlangObject[] {new OtpErlangAtom("k")}, new OtpErlangObject[] {new OtpErlangLong(1)}),
      box.self(), node.createRef(), node.createPort(),
    };
    for (OtpErlangObject t : terms) {
      box.send("echo", other, tuple(box.self(), t));
      same(t, box.receive(PATIENCE));
    }
    OtpErlangRef ref = node.createRef();
    box.send("echo", other, tuple(box.self(), ref, new OtpErlangAtom("hello")));
    same(tuple(ref, new OtpErlangAtom("hello")), box.receive(PATIENCE));
    System.out.println("ok");
  }

  static void same(OtpErlangObject want, OtpErlangObject got) throws Exception {
    if (!want.equals(got)) {
      throw new Exception("sent " + want + ", came " + got);
    }
  }

  static void rate(OtpNode node, String other, int clients, double seconds) throws Exception {
    if (!node.ping(other, PATIENCE)) {
      throw new Exception("no ping");
    }
    LongAdder done = new LongAdder();
    AtomicReference<Exception> failed = new AtomicReference<>();
    for (int i = 0; i < clients; i++) {
      OtpMbox box = node.createMbox();
      Thread t = new Thread(() -> {
        try {
          for (;;) {
            box.send("echo", other, box.self());
            same(FIVE, box.receive(PATIENCE));
            done.increment();
          }
        } catch (Exception e) {
          failed.set(e);
        }
      });
      t.setDaemon(true);
      t.start();
    }
    Thread.sleep((long) (seconds * 1000)); // as long as the measurement, for the compiler to warm up
    long before = done.sum(), begun = System.nanoTime();
    Thread.sleep((long) (seconds * 1000));
    double rate = (done.sum() - before) * 1e9 / (System.nanoTime() - begun);
    if (failed.get() != null) {
      throw failed.get();
    }
    System.out.printf("%.1f%n", rate);
  }

  static void mailbox(OtpNode node, double seconds) throws Exception {
    OtpMbox first = node.createMbox(), second = node.createMbox();
    double rate = 0;
    for (int round = 0; round < 2; round++) { // the first is for the compiler to warm up
      long done = 0, begun = System.nanoTime(), took;
      do {
        for (int i = 0; i < 1000; i++, done++) {
          first.send(second.self(), FIVE);
          second.send(first.self(), second.receive());
          first.receive();
        }
        took = System.nanoTime() - begun;
      } while (took < seconds * 1e9);
      rate = done * 1e9 / took;
    }
    System.out.printf("%.1f%n", rate);
  }
}
