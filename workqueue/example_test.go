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
	fmt.Println(queue.Len(), "keys are left")
	// Output:
	// 3 runs, true
	// 0 keys are left
}

// Keys of a high priority come first. A request never lowers a priority that was asked for before.
func ExampleQueue_AddWith() {
	queue := workqueue.New(workqueue.Options[string]{})
	for _, key := range []string{"a", "b", "c"} { // what exists at the start
		queue.AddWith(key, workqueue.AddOptions{Priority: workqueue.LowPriority})
	}
	queue.Add("new")
	queue.Add("c") // somebody changed it; it has waited for longer than "new"
	queue.AddWith("urgent", workqueue.AddOptions{Priority: 10})
	queue.Add("urgent")

	_ = queue.Drain(context.Background(), func(_ context.Context, key string) error {
		fmt.Println(key)
		return nil
	})
	// Output:
	// urgent
	// c
	// new
	// a
	// b
}

// A key that no longer needs to run is cancelled, and one that can wait is moved.
func ExampleQueue_Move() {
	queue := workqueue.New(workqueue.Options[string]{})
	queue.AddAfter("expired", time.Minute)
	queue.AddAfter("renewed", time.Minute)
	queue.Add("changed")

	fmt.Println(queue.Cancel("expired"))
	fmt.Println(queue.Move("renewed", time.Hour))
	fmt.Println(queue.Move("changed", time.Hour)) // somebody asked for a run now
	fmt.Printf("%d ready, %d delayed\n", queue.Stats().Ready, queue.Stats().Delayed)
	// Output:
	// true
	// true
	// false
	// 1 ready, 1 delayed
}

// When a program ends, what is ready is worked off for a while. Delays are not waited for.
func ExampleQueue_Drain() {
	queue := workqueue.New(workqueue.Options[string]{})
	queue.Add("a")
	queue.Add("b")
	queue.AddAfter("tomorrow", 24*time.Hour)

	grace, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := queue.Drain(grace, func(_ context.Context, key string) error {
		fmt.Println(key)
		return nil
	})
	fmt.Println(err)
	// Output:
	// a
	// b
	// <nil>
}

// A page for debugging lists the keys, first those that are in progress.
func ExampleQueue_Keys() {
	queue := workqueue.New(workqueue.Options[string]{})
	queue.Add("broken")
	queue.Add("slow")
	_ = queue.Do(context.Background(), func(context.Context, string) error { return errors.New("no such image") })
	_ = queue.Do(context.Background(), func(context.Context, string) error {
		queue.AddWith("urgent", workqueue.AddOptions{Priority: 5})
		for key := range queue.Keys() {
			fmt.Printf("%s: %v, priority %d, in progress: %v, failures: %d, %v\n",
				key.Key, key.Pending, key.Priority, !key.Started.IsZero(), key.Failures, key.LastError)
		}
		return nil
	})
	// Output:
	// slow: not pending, priority 0, in progress: true, failures: 0, <nil>
	// urgent: ready, priority 5, in progress: false, failures: 0, <nil>
	// broken: delayed, priority 0, in progress: false, failures: 1, no such image
}

// Hooks feed metrics.
func ExampleHooks() {
	retries := 0
	queue := workqueue.New(workqueue.Options[string]{Hooks: workqueue.Hooks[string]{
		Start: func(i workqueue.HookInfo[string]) {
			fmt.Println(i.Key, "waited less than a minute:", i.Duration < time.Minute)
		},
		Done:  func(i workqueue.HookInfo[string]) { fmt.Println(i.Key, "ended with", i.Err) },
		Retry: func(workqueue.HookInfo[string]) { retries++ },
	}})
	queue.Add("key")
	_ = queue.Do(context.Background(), func(context.Context, string) error { return errors.New("conflict") })
	fmt.Println("retries:", retries)
	// Output:
	// key waited less than a minute: true
	// key ended with conflict
	// retries: 1
}

// Tenant "big" has a thousand keys and tenant "small" has two, which do not wait for the thousand.
func ExampleOptions_group() {
	type key struct{ tenant, name string }
	queue := workqueue.New(workqueue.Options[key]{
		Group: func(k key) string { return k.tenant },
	})
	for i := range 1000 {
		queue.Add(key{"big", fmt.Sprint(i)})
	}
	queue.Add(key{"small", "a"})
	queue.Add(key{"small", "b"})

	for range 5 {
		_ = queue.Do(context.Background(), func(_ context.Context, k key) error {
			fmt.Println(k.tenant, k.name)
			return nil
		})
	}
	for _, group := range queue.Groups() {
		fmt.Println(group.Name, "has", group.Ready, "ready keys")
	}
	// Output:
	// big 0
	// small a
	// big 1
	// small b
	// big 2
	// big has 997 ready keys
}
