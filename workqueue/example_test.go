package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// A worker is a loop around Do. The first run of "b" fails; it is retried after the others.
func Example() {
	queue := workqueue.New(workqueue.Options[string]{
		OnError: func(key string, err error) { fmt.Printf("%s: %v\n", key, err) },
	})
	queue.Add("a")
	queue.Add("b")
	queue.Add("a") // it is ready already
	queue.Add("c")

	ctx, cancel := context.WithCancel(context.Background())
	attempts := map[string]int{}
	work := func(_ context.Context, key string) error {
		attempts[key]++
		if key == "b" && attempts[key] == 1 {
			return errors.New("not now")
		}
		fmt.Printf("%s: done\n", key)
		if key == "b" {
			cancel()
		}
		return nil
	}
	for queue.Do(ctx, work) == nil {
	}
	// Output:
	// a: done
	// b: not now
	// c: done
	// b: done
}

// A function requeues its own key with AddAfter; the key is settled meanwhile.
func ExampleQueue_AddAfter() {
	queue := workqueue.New(workqueue.Options[string]{})
	queue.Add("lease")

	start, runs := time.Now(), 0
	for runs < 3 {
		_ = queue.Do(context.Background(), func(_ context.Context, key string) error {
			if runs++; runs < 3 {
				queue.AddAfter(key, 10*time.Millisecond)
			}
			return nil
		})
	}
	fmt.Println(runs, "runs,", time.Since(start) >= 20*time.Millisecond)
	fmt.Printf("%+v\n", queue.Stats())
	// Output:
	// 3 runs, true
	// {Ready:0 Oldest:0s InProgress:0 Delayed:0 Held:0 Throttled:0}
}
