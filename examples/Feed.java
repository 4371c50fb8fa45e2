// A like, a double tap, a view and a page of a feed over HTTP, with nothing but the JDK (11 or newer).
//
//     java Feed.java [URL]        (the server: script/server)
//
// On a new server it prints:
//
//     {"changed":true,"count":1}
//     {"changed":false,"count":1}
//     {"value":1}
//     {"value":1}
//     {"items":[{"item":"video:42","reactions":["like"],"counts":{"like":1,"view":1}},{"item":"video:43","reactions":[],"counts":{}}]}
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

public class Feed {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;

    Feed(String base) {
        this.base = base;
    }

    /** Sends a request and returns the JSON of its answer; the JSON library of your choice reads it. */
    String call(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(10));
        if (body == null) {
            request.method(method, BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json").method(method, BodyPublishers.ofString(body));
        }
        HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(response.statusCode() + ": " + response.body());
        }
        return response.body();
    }

    /** Sets a state, so it is always safe to try again. */
    String like(String user, String item) throws IOException, InterruptedException {
        return call("PUT", "/v1/items/" + item + "/reactions/like/" + user, null);
    }

    /** With the same token again, nothing is added. */
    String view(String item, String token) throws IOException, InterruptedException {
        return call("POST", "/v1/items/" + item + "/counters/view", "{\"delta\":1,\"token\":\"" + token + "\"}");
    }

    String feed(String user, String... items) throws IOException, InterruptedException {
        return call("POST", "/v1/feed", "{\"user\":\"" + user + "\",\"items\":[\"" + String.join("\",\"", items) + "\"]}");
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Feed laud = new Feed(arguments.length > 0 ? arguments[0] : "http://127.0.0.1:5284");
        System.out.println(laud.like("7", "video:42"));
        System.out.println(laud.like("7", "video:42"));
        System.out.println(laud.view("video:42", "play-1"));
        System.out.println(laud.view("video:42", "play-1"));
        System.out.println(laud.feed("7", "video:42", "video:43"));
    }
}
