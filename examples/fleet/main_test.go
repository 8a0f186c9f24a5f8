package main

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestOtherClientsWaitForAFleetWithoutLimits(t *testing.T) {
	outcomeOf := func(t *testing.T, limit func() *rate.Limiter) (o outcome) {
		synctest.Test(t, func(t *testing.T) {
			var err error
			if o, err = play(t.Context(), clienttest.Start(t, clienttest.Options{}), limit); err != nil {
				t.Fatal(err)
			}
		})
		return o
	}
	without, with := outcomeOf(t, nil), outcomeOf(t, perProgram)
	t.Logf("without limits %+v, with them %+v", without, with)
	if without.refused < programs*workers-inFlight || without.longest < time.Second {
		t.Errorf("without limits: %+v", without)
	}
	// A write is a read and an update.
	if with.refused != 0 || with.failed != 0 || with.longest != 2*takes || with.took >= without.took {
		t.Errorf("with limits: %+v", with)
	}
}
