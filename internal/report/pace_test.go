package report_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

func TestALastingFailureIsDueAtGrowingIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p report.Pace
		start, due := time.Now(), []time.Duration{}
		for range 360 {
			if p.Due(errors.New("a")) {
				due = append(due, time.Since(start))
			}
			time.Sleep(10 * time.Second)
		}
		const s = time.Second
		if want := []time.Duration{0, 10 * s, 30 * s, 80 * s, 220 * s, 630 * s, 1530 * s, 2430 * s, 3330 * s}; !slices.Equal(due, want) {
			t.Errorf("due at %v, want %v", due, want)
		}
		if !p.Due(errors.New("b")) || p.Due(errors.New("b")) || p.Due(nil) || !p.Due(errors.New("b")) {
			t.Error("another error, or one after a success, is not due at once")
		}
	})
}
