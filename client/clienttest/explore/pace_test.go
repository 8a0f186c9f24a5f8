package explore

import (
	"context"
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

func TestTheRestsOfAProgramThatWaitsForNothingAreShort(t *testing.T) {
	s := begun(t, right)
	if s.paces == nil {
		t.Fatal("the rests are not shortened")
	}
	if o := s.try(nil); o.took > 10*time.Second || len(o.wrong) > 0 {
		t.Errorf("a run takes %v, %q", o.took, o.wrong)
	}
}
