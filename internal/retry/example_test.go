package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/internal/retry"
)

// A write that loses to others tries again, a little later each time.
func Example() {
	write := func(attempt int) error {
		if attempt < 3 {
			return errors.New("conflict")
		}
		return nil
	}

	b := retry.New(retry.Policy{Base: time.Millisecond, Max: 10 * time.Millisecond})
	for attempt := 1; ; attempt++ {
		err := write(attempt)
		fmt.Printf("attempt %d: %v\n", attempt, err)
		if err == nil {
			return
		}
		if err := retry.Sleep(context.Background(), b.Next(0)); err != nil {
			return
		}
	}
	// Output:
	// attempt 1: conflict
	// attempt 2: conflict
	// attempt 3: <nil>
}
