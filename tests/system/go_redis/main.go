// What go-redis users do, against the port in the first argument. Prints its version; any surprise ends it.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func expect(got, wanted any, what string) {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		panic(fmt.Sprintf("%s: expected %v, got %v", what, wanted, got))
	}
}

func expectError(err error, words string) {
	if err == nil || !strings.Contains(err.Error(), words) {
		panic(fmt.Sprintf("expected an error with '%s', got %v", words, err))
	}
}

func transactions(client *redis.Client) {
	commands, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 1; i <= 1000; i++ {
			pipe.Do(ctx, "LIKE", i, "video:1")
		}
		pipe.Do(ctx, "ADD", "video:1", "view", 3, "TOKEN", "t")
		return nil
	})
	expect(err, nil, "TxPipelined")
	for _, command := range commands[:1000] {
		expect(command.(*redis.Cmd).Val(), 1, "a like")
	}
	expect(commands[1000].(*redis.Cmd).Val(), 3, "ADD")
	commands, err = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Do(ctx, "LIKE", "x", "video:1")
		pipe.Do(ctx, "LIKE", 1001, "video:1")
		return nil
	})
	expectError(err, "a user must be")
	expect(commands[1].(*redis.Cmd).Val(), 1, "a like behind one that was refused")
	_, err = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Do(ctx, "LIKE", 1002, "video:1")
		pipe.Do(ctx, "NOPE")
		return nil
	})
	expectError(err, "EXECABORT")
	expect(client.Do(ctx, "LIKED", 1002, "video:1").Val(), []any{int64(0)}, "what was aborted")
	err = client.Watch(ctx, func(tx *redis.Tx) error { return nil }, "video:1")
	expectError(err, "WATCH is not supported")
}

func main() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	expect(client.Ping(ctx).Err(), nil, "PING")
	commands, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Do(ctx, "LIKE", 7, "post:1")
		pipe.Do(ctx, "FEED", 7, "post:1")
		return nil
	})
	expect(err, nil, "Pipelined")
	expect(commands[1].(*redis.Cmd).Val(), "[[[like] map[like:1]]]", "FEED in RESP3")
	transactions(client)
	expect(client.Close(), nil, "Close")
	fmt.Println("go-redis", redis.Version())
}
