package explore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A program that writes 90 seconds after its start has not done so when two shorter rests have ended.
func TestTheRestsOfAProgramThatWaitsForATimeAreLong(t *testing.T) {
	s := &search{t: t, plan: boxPlan(right), limit: time.Minute}
	s.plan.Program = func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		select {
		case <-time.After(90 * time.Second):
			_, err = client.For(c, mapType()).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "late"}})
			if err := apierrors.Ignore(err, apierrors.AlreadyExists); err != nil {
				return err
			}
			<-ctx.Done()
		case <-ctx.Done():
		}
		return nil
	}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	if s.paces != nil {
		t.Errorf("the rests are shortened to %v", s.paces)
	}
	if o := s.try(parsed(t, "crash-after@create:configmaps:1")); len(o.wrong) > 0 {
		t.Errorf("a false alarm: %q", o.wrong)
	}
}

// A program that writes three hours after its start has done so after a wait of four. The rest before does not wait.
func TestAHistoryLetsTimePass(t *testing.T) {
	s := &search{t: t, plan: boxPlan(right), limit: time.Minute}
	s.plan.Program = func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		select {
		case <-time.After(3 * time.Hour):
			_, err = client.For(c, mapType()).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "late"}})
			if err := apierrors.Ignore(err, apierrors.AlreadyExists); err != nil {
				return err
			}
			<-ctx.Done()
		case <-ctx.Done():
		}
		return nil
	}
	var waited []time.Duration
	s.plan.History = func(h *History) {
		h.Rest()
		begin := time.Now()
		h.Wait(-time.Hour)
		waited = []time.Duration{time.Since(begin), 0}
		h.Wait(4 * time.Hour)
		waited[1] = time.Since(begin)
		h.Rest()
	}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	if want := []time.Duration{0, 4 * time.Hour}; !slices.Equal(waited, want) {
		t.Errorf("time passed: %v, want %v", waited, want)
	}
	name := "configmaps default/late"
	if states := s.want.states; len(states) != 3 || states[0][name] != nil || states[1][name] == nil {
		t.Errorf("the states at rest are %v, want the ConfigMap in the second one", states)
	}
	if o := s.try(parsed(t, "crash-after@create:configmaps:1")); len(o.wrong) > 0 || len(o.happened) != 1 {
		t.Errorf("a false alarm: %q", o.wrong)
	}
}

func TestTheRestsOfAProgramThatWaitsForNothingAreShort(t *testing.T) {
	s := begun(t, right)
	if s.paces == nil {
		t.Fatal("the rests are not shortened")
	}
	if o := s.try(nil); o.took > 10*time.Second || len(o.wrong) > 0 {
		t.Errorf("a run takes %v, %q", o.took, o.wrong)
	}
}
