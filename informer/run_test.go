package informer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

func TestRunOfSeveral(t *testing.T) {
	errFirst, errSecond := errors.New("first"), errors.New("second")
	until := func(ctx context.Context) error { <-ctx.Done(); return nil }
	after := func(d time.Duration, err error) informer.RunnerFunc {
		return func(ctx context.Context) error {
			select {
			case <-time.After(d):
				return err
			case <-ctx.Done():
				return nil
			}
		}
	}
	for _, test := range []struct {
		name    string
		runners []informer.Runner
		want    error
		took    time.Duration
	}{
		{"none", nil, nil, 0},
		{"the context ends", []informer.Runner{informer.RunnerFunc(until), informer.RunnerFunc(until)}, nil, time.Hour},
		{"one fails, the others are ended", []informer.Runner{informer.RunnerFunc(until), after(time.Second, errFirst)}, errFirst, time.Second},
		{"the first error wins", []informer.Runner{after(2*time.Second, errSecond), after(time.Second, errFirst), informer.RunnerFunc(func(ctx context.Context) error {
			<-ctx.Done()
			return errSecond
		})}, errFirst, time.Second},
		{"nil ends nobody else", []informer.Runner{after(time.Second, nil), after(time.Minute, nil)}, nil, time.Minute},
		{"all are waited for", []informer.Runner{after(time.Second, errFirst), informer.RunnerFunc(func(ctx context.Context) error {
			<-ctx.Done()
			<-time.After(time.Minute)
			return nil
		})}, errFirst, time.Minute + time.Second},
		{"the error is the others' cause", []informer.Runner{after(time.Second, errFirst), informer.RunnerFunc(func(ctx context.Context) error {
			<-ctx.Done()
			if context.Cause(ctx) != errFirst {
				return errors.New("another cause")
			}
			return nil
		})}, errFirst, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				if err := informer.Run(ctx, test.runners...); err != test.want {
					t.Errorf("Run returned %v, want %v", err, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("Run took %v, want %v", took, test.took)
				}
			})
		})
	}
}

// An informer whose options cannot be right ends the others.
func TestRunReportsAnInformerThatCannotRun(t *testing.T) {
	bubble(t, func(r *rig) {
		good := informer.New(r.things, informer.Options{})
		bad := informer.New(r.things, informer.Options{LabelSelector: "!!"})
		r.says(informer.Run(r.Context(), good, bad), `run informer "labels !!" of configmaps`, "LabelSelector")
		if s := good.Status(); s.State != informer.Idle {
			r.Errorf("the other one is %v", s)
		}
	})
}

// untagged is a struct whose metadata nothing is read into.
type untagged struct{ meta.ObjectMeta }

// The objects of such a struct had no names, and controllers did nothing with them.
func TestAStructWhoseMetadataIsNotTaggedDoesNotRun(t *testing.T) {
	bubble(t, func(r *rig) {
		c, err := client.New(r.server.Config())
		if err != nil {
			r.Fatal(err)
		}
		defer c.Close()
		inf := informer.New(client.For(c, client.Type[*untagged]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}), informer.Options{})
		r.says(inf.Run(r.Context()), "field ObjectMeta of informer_test.untagged must have the tag `json:\"metadata\"`")
	})
}
