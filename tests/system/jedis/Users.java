// What Jedis users do, against the port in the first argument; any surprise is thrown.
import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;

public class Users {
    static ProtocolCommand command(String name) {
        return () -> name.getBytes(StandardCharsets.US_ASCII);
    }

    static void expect(Object got, Object wanted, String what) {
        if (!got.equals(wanted))
            throw new AssertionError(what + ": expected " + wanted + ", got " + got);
    }

    static void expectError(Runnable work, String words) {
        try {
            work.run();
        } catch (JedisDataException error) {
            if (error.getMessage().contains(words))
                return;
            throw error;
        }
        throw new AssertionError("no error with '" + words + "'");
    }

    static void transactions(Jedis jedis) {
        Transaction many = jedis.multi();
        for (int i = 1; i <= 1000; i++)
            many.sendCommand(command("LIKE"), Integer.toString(i), "video:1");
        Response<Object> view = many.sendCommand(command("ADD"), "video:1", "view", "3", "TOKEN", "t");
        List<Object> replies = many.exec();
        for (Object reply : replies.subList(0, 1000))
            expect(reply, 1L, "a like");
        expect(view.get(), 3L, "ADD");
        Transaction refused = jedis.multi();
        refused.sendCommand(command("LIKE"), "x", "video:1");
        refused.sendCommand(command("LIKE"), "1001", "video:1");
        replies = refused.exec();
        expect(replies.get(0) instanceof JedisDataException, true, "an error in its place");
        expect(replies.get(1), 1L, "a like behind one that was refused");
        Transaction discarded = jedis.multi();
        discarded.sendCommand(command("LIKE"), "1002", "video:1");
        discarded.discard();
        expectError(() -> jedis.watch("video:1"), "WATCH is not supported");
        expect(jedis.unwatch(), "OK", "UNWATCH");
        expect(jedis.sendCommand(command("LIKED"), "1002", "video:1"), List.of(0L), "what was discarded");
    }

    static void pooled(int port) {
        try (JedisPooled jedis = new JedisPooled("127.0.0.1", port)) {
            try (var transaction = jedis.multi()) {
                transaction.sendCommand(command("LIKE"), "7", "post:1");
                expect(transaction.exec(), List.of(1L), "a transaction of a pool");
            }
        }
    }

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        try (Jedis jedis = new Jedis("127.0.0.1", port)) {
            expect(jedis.ping(), "PONG", "PING");
            transactions(jedis);
        }
        pooled(port);
    }
}
