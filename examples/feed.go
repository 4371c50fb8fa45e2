// A like, a double tap, a view and a page of a feed over HTTP, with nothing but the standard library.
//
//	go run feed.go [URL]        (the server: script/server)
//
// On a new server it prints:
//
//	like: true, again: false
//	views: 1, sent again: 1
//	video:42 liked 1 likes 1 views
//	video:43 not liked 0 likes 0 views
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

var (
	base   = "http://127.0.0.1:5284"
	client = http.Client{Timeout: 10 * time.Second}
)

// call sends a request and decodes its answer. Ids are strings in JSON, counts are numbers.
func call(method, path string, body, answer any) error {
	var buffer bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&buffer).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, base+path, &buffer)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var failure struct {
			Error struct{ Code, Message string }
		}
		_ = json.NewDecoder(response.Body).Decode(&failure) // a proxy may answer something else
		return fmt.Errorf("%s: %s %s", response.Status, failure.Error.Code, failure.Error.Message)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// like reports whether the like was set now. It sets a state, so it is always safe to try again.
func like(user, item string) (bool, error) {
	var answer struct{ Changed bool }
	err := call("PUT", "/v1/items/"+item+"/reactions/like/"+user, nil, &answer)
	return answer.Changed, err
}

// view adds one view and returns their number. With the same token again, nothing is added.
func view(item, token string) (int64, error) {
	var answer struct{ Value int64 }
	err := call("POST", "/v1/items/"+item+"/counters/view", map[string]any{"delta": 1, "token": token}, &answer)
	return answer.Value, err
}

type row struct {
	Item      string
	Reactions []string
	Counts    map[string]int64
}

func feed(user string, items ...string) ([]row, error) {
	var answer struct{ Items []row }
	err := call("POST", "/v1/feed", map[string]any{"user": user, "items": items}, &answer)
	return answer.Items, err
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	if len(os.Args) > 1 {
		base = os.Args[1]
	}
	fmt.Printf("like: %t, again: %t\n", must(like("7", "video:42")), must(like("7", "video:42")))
	fmt.Printf("views: %d, sent again: %d\n", must(view("video:42", "play-1")), must(view("video:42", "play-1")))
	for _, row := range must(feed("7", "video:42", "video:43")) {
		liked := "not liked"
		for _, kind := range row.Reactions {
			if kind == "like" {
				liked = "liked"
			}
		}
		fmt.Println(row.Item, liked, row.Counts["like"], "likes", row.Counts["view"], "views")
	}
}
