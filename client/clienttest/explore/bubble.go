package explore

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing/synctest"
)

// test is the TB of a run's server. An error that the server reports to the TB is a finding of the run.
type test struct {
	world *world
	ends  []func()
	stuck bool // a goroutine is left over, so the bubble cannot end
}

func (t *test) Helper()                           {}
func (t *test) Cleanup(f func())                  { t.ends = append(t.ends, f) }
func (t *test) Errorf(format string, args ...any) { t.world.found(format, args...) }
func (t *test) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// end ends the server, and looks for goroutines that are left over.
func (t *test) end() {
	for _, end := range t.ends {
		end()
	}
	synctest.Wait()
	for _, stack := range others() {
		t.stuck = true
		t.world.found("a goroutine is left over:\n%s", stack)
	}
}

// others returns the stacks of the other goroutines of this bubble.
func others() (stacks []string) {
	bubble := regexp.MustCompile(`synctest bubble \d+`)
	own := make([]byte, 1<<10)
	own = own[:runtime.Stack(own, false)]
	name := bubble.FindString(string(own)) + "]"
	all := make([]byte, 64<<10)
	for n := len(all); n == len(all); {
		all = make([]byte, 4*len(all))
		n = runtime.Stack(all, true)
		all = all[:n:len(all)]
		if n < cap(all) {
			break
		}
	}
	for _, stack := range strings.Split(string(all), "\n\n")[1:] {
		head, _, _ := strings.Cut(stack, "\n")
		ours := strings.Contains(stack, "testing/synctest.testingSynctestTest(") || strings.Contains(head, "synctest.Run") ||
			strings.Contains(stack, "explore.(*world).stop")
		if strings.Contains(head, name) && !ours {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
