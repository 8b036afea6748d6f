package work_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// keyFlag names the file with the key that workers sign with.
const keyFlag = "SHADOWCOURT_TEST_KEY"

// hooksFlag names the file with the webhooks that workers send to.
const hooksFlag = "SHADOWCOURT_TEST_WEBHOOKS"

// clockFlag gives a worker a clock of its own: up to an hour from the machine's, and as far again with each signal to jump.
const clockFlag = "SHADOWCOURT_TEST_CLOCK"

// jumpingClock is the machine's clock and an offset. Its times have no steady part: what is measured by it jumps.
type jumpingClock struct{ offset atomic.Int64 }

func (c *jumpingClock) now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()))
}

func (c *jumpingClock) jump() { c.offset.Store(rand.Int64N(int64(2*time.Hour)) - int64(time.Hour)) }

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
	now := time.Now
	if os.Getenv(clockFlag) != "" {
		clock := &jumpingClock{}
		now = clock.now
		clock.jump()
		jumps := make(chan os.Signal, 1)
		signal.Notify(jumps, syscall.SIGUSR1)
		go func() {
			for range jumps {
				clock.jump()
			}
		}()
	}
	for {
		err := work1(ctx, database, key, now)
		if ctx.Err() != nil {
			return nil
		}
		// As a service manager would: the database may be starting.
		_, _ = os.Stderr.WriteString("worker: " + err.Error() + "\n")
		time.Sleep(200 * time.Millisecond)
	}
}

func work1(ctx context.Context, database string, key *record.Key, now func() time.Time) error {
	s, err := store.Open(ctx, store.Config{Database: database, Now: now})
	if err != nil {
		return err
	}
	defer s.Close()
	config := work.Config{Store: s, Open: openHost, Now: now, Machine: "test", Workers: 1, Key: key, CaseTime: 5 * time.Second}
	if file := os.Getenv(hooksFlag); file != "" {
		var err error
		if config.Webhooks, err = work.ReadHooks(file, environment); err != nil {
			return err
		}
	}
	return work.New(config).Run(ctx, nil)
}
