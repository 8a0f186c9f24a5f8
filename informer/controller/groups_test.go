package controller_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

func TestGroupsOfKeysShareTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for _, n := range numbers(100) {
			names = append(names, "a"+n)
		}
		for _, n := range numbers(10) {
			names = append(names, "b"+n)
		}
		c := controller.New("c", controller.Options{Workers: 8}, func(ctx context.Context, _ string) (controller.Result, error) {
			<-ctx.Done()
			return controller.Result{}, nil
		}, keys{names: names})
		if err := c.GroupBy(nil, func(string) int { return 2 }); err == nil || err.Error() != "controller.GroupBy: group must not be nil if weight is set" {
			t.Errorf("the error of a weight without a group is %v", err)
		}
		if err := c.GroupBy(func(k string) string { return k[:1] }, func(g string) int { return map[string]int{"a": 1, "b": 3}[g] }); err != nil {
			t.Fatal(err)
		}
		stop := run(t, c)
		want := []workqueue.GroupStats{
			{Name: "a", Weight: 1, Ready: 98, InProgress: 2, Oldest: time.Minute},
			{Name: "b", Weight: 3, Ready: 4, InProgress: 6, Oldest: time.Minute},
		}
		time.Sleep(time.Minute)
		if got := c.Groups(); !slices.Equal(got, want) {
			t.Errorf("groups are %+v, want %+v", got, want)
		}
		if err := c.GroupBy(nil, nil); err == nil || err.Error() != "controller.GroupBy: must not be called during Run" {
			t.Errorf("the error of a change during Run is %v", err)
		}
		mustStop(t, stop)
		if err := c.GroupBy(nil, nil); err != nil {
			t.Error(err)
		}
		stop = run(t, c)
		if got := c.Groups(); len(got) > 0 {
			t.Errorf("groups are %+v, want none", got)
		}
		mustStop(t, stop)
	})
}
