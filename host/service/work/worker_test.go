package work_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/service/store"
	"github.com/shadowcourt/shadowcourt/host/service/work"
)

// keyFlag names the file with the key that workers sign with.
const keyFlag = "SHADOWCOURT_TEST_KEY"

// runWorker is a worker in a process of its own.
func runWorker(database string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var key *record.Key
	if file := os.Getenv(keyFlag); file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			key, err = record.ParseKey(text)
		}
		if err != nil {
			return err
		}
	}
	for {
		err := work1(ctx, database, key)
		if ctx.Err() != nil {
			return nil
		}
		// As a service manager would: the database may be starting.
		_, _ = os.Stderr.WriteString("worker: " + err.Error() + "\n")
		time.Sleep(200 * time.Millisecond)
	}
}

func work1(ctx context.Context, database string, key *record.Key) error {
	s, err := store.Open(ctx, store.Config{Database: database, Now: time.Now})
	if err != nil {
		return err
	}
	defer s.Close()
	return work.New(work.Config{Store: s, Open: openHost, Now: time.Now, Machine: "test", Workers: 1, Key: key}).Run(ctx, nil)
}
