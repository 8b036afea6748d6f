#!/bin/sh
# River 0.51.2 (Go) with its SQLite driver: a queue that is added to a running client while the database is locked for longer than the
# start of a queue waits is an error, and the client has the queue all the same. Added again, once the database is free, it is "already
# added", and its jobs are never worked. Only Queues().Remove before the next Add mends it. The documentation of Add says neither.
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat > go.mod <<'EOF'
module finding

go 1.25.0

require (
	github.com/riverqueue/river v0.51.2
	github.com/riverqueue/river/riverdriver/riversqlite v0.51.2
	modernc.org/sqlite v1.62.0
)
EOF
cat > main.go <<'EOF'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite"
)

type greeting struct{}

func (greeting) Kind() string { return "greeting" }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	ctx := context.Background()
	db := must(sql.Open("sqlite", "file:jobs.db?_pragma=journal_mode(WAL)&_pragma=busy_timeout(1000)"))
	db.SetMaxOpenConns(1)
	driver := riversqlite.New(db)
	must(must(rivermigrate.New(driver, nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
	worked := make(chan bool, 1)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[greeting]) error { worked <- true; return nil }))
	client := must(river.NewClient(driver, &river.Config{
		Workers: workers, Queues: map[string]river.QueueConfig{"first": {MaxWorkers: 1}}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}))
	if err := client.Start(ctx); err != nil {
		panic(err)
	}
	must(client.Insert(ctx, greeting{}, &river.InsertOpts{Queue: "second"}))

	other := must(must(sql.Open("sqlite", "file:jobs.db?_pragma=busy_timeout(5000)")).Conn(ctx))
	must(other.ExecContext(ctx, "BEGIN IMMEDIATE"))
	settings := river.QueueConfig{MaxWorkers: 1}
	fmt.Println("added while locked, failed:", client.Queues().Add("second", settings) != nil)
	must(other.ExecContext(ctx, "ROLLBACK"))

	fmt.Println("added again:", client.Queues().Add("second", settings))
	wait := func() bool {
		select {
		case <-worked:
			return true
		case <-time.After(10 * time.Second):
			return false
		}
	}
	fmt.Println("worked:", wait())
	fmt.Println("removed:", client.Queues().Remove(ctx, "second"))
	fmt.Println("added after that:", client.Queues().Add("second", settings))
	fmt.Println("worked:", wait())
}
EOF
GOFLAGS=-mod=mod go mod tidy >/dev/null 2>&1
GOFLAGS=-mod=mod go run . > seen
cat seen
cat > expected <<'EOF'
added while locked, failed: true
added again: queue "second" already added
worked: false
removed: <nil>
added after that: <nil>
worked: true
EOF
diff expected seen
