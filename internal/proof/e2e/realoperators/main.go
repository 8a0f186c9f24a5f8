package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var operators = []*operator{machineSetOperator, autoscalerOperator}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	p := plan{}
	flag.StringVar(&p.directory, "copy", "", "where to make the copies, builds and logs, which stay; empty means a temporary directory")
	flag.StringVar(&p.only, "operator", "", "the only operator to run; empty means all")
	flag.Uint64Var(&p.seed, "seed", 1, "of the play and the storm")
	flag.DurationVar(&p.storm, "storm", 90*time.Second, "how long the faults last; 0 leaves the storm out")
	flag.IntVar(&p.rounds, "rounds", 5, "how often each build is measured; 0 leaves the figures out")
	flag.Parse()
	if err := p.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "realoperators:", err)
		stop()
		os.Exit(1)
	}
}

// plan says what to run.
type plan struct {
	directory, only string
	seed            uint64
	storm           time.Duration
	rounds          int
}

func (p plan) run(ctx context.Context, out io.Writer) error {
	chosen := operators
	if p.only != "" {
		chosen = slices.DeleteFunc(slices.Clone(operators), func(o *operator) bool { return o.name != p.only })
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-operator must be the name of an operator, got %q", p.only)
	}
	if p.directory == "" {
		made, err := os.MkdirTemp("", "bowline-realoperators-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		p.directory = made
	}
	var different []string
	for _, o := range chosen {
		equal, err := p.runOperator(ctx, out, o)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		if !equal {
			different = append(different, o.name)
		}
	}
	if len(different) > 0 {
		return fmt.Errorf("the end states differ: %s", strings.Join(different, ", "))
	}
	return nil
}

func (p plan) runOperator(ctx context.Context, out io.Writer, o *operator) (equal bool, err error) {
	directory, err := filepath.Abs(filepath.Join(p.directory, o.name))
	if err != nil {
		return false, err
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s: %s of %s %s\n", o.name, o.command, o.module, o.version)
	b, err := prepare(ctx, directory, o)
	if err != nil {
		return false, err
	}
	equal = true
	if p.storm > 0 {
		if equal, err = p.compare(ctx, out, o, b, directory); err != nil {
			return false, err
		}
	}
	if p.rounds > 0 {
		if err := p.measure(ctx, out, o, b, directory); err != nil {
			return false, err
		}
	}
	return equal, nil
}

// compare runs both builds through the storm and compares their end states.
func (p plan) compare(ctx context.Context, out io.Writer, o *operator, b binaries, directory string) (bool, error) {
	states := map[string][]string{}
	for _, build := range b.both() {
		r, err := p.weather(ctx, o, b, build, directory)
		if err != nil {
			return false, fmt.Errorf("%s, in the storm: %w", build.name, err)
		}
		fmt.Fprintf(out, "  storm, %s: settled %.1f s after the faults; started %d times; CPU %.1f s; %d faults: %s\n",
			build.name, r.settled.Seconds(), r.starts, r.cpu.Seconds(), r.faults, r.kinds)
		states[build.name] = r.state
		if err := os.WriteFile(filepath.Join(directory, build.name+".state"), []byte(strings.Join(r.state, "\n")+"\n"), 0o600); err != nil {
			return false, err
		}
	}
	diff := compare(states["before"], states["after"])
	if len(diff) == 0 {
		fmt.Fprintf(out, "  the end states are equal: %s\n", kindsOf(states["after"]))
		return true, nil
	}
	fmt.Fprintf(out, "  the end states differ, - before, + after:\n    %s\n", strings.Join(diff, "\n    "))
	return false, nil
}

// outcome is the result of a run through the storm.
type outcome struct {
	state   []string
	settled time.Duration // after the end of the faults
	starts  int           // of the operator's process
	cpu     time.Duration
	faults  int
	kinds   string
}

// weather runs one build through the storm, on a separate control plane.
func (p plan) weather(ctx context.Context, o *operator, b binaries, build build, directory string) (r outcome, err error) {
	c, err := startCluster(ctx)
	if err != nil {
		return r, err
	}
	defer c.plane.Stop()
	if err := c.install(ctx, o, b); err != nil {
		return r, err
	}
	if err := o.prepare(ctx, c); err != nil {
		return r, err
	}
	s, err := startStorm(c.plane, p.seed, filepath.Join(directory, build.name+".kubeconfig"))
	if err != nil {
		return r, err
	}
	defer s.stop()

	// The program acts for the missing controllers until the end.
	acting, cancel := context.WithCancel(ctx)
	var actor sync.WaitGroup
	var actErr error
	defer actor.Wait()
	defer cancel()
	actor.Go(func() {
		for acting.Err() == nil {
			if err := o.act(acting, c); err != nil && acting.Err() == nil {
				actErr = err // another round mends a conflict; only the last error is reported
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-acting.Done():
			}
		}
	})

	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	k := o.keep(giveUp, build.path, s.kubeconfig, filepath.Join(directory, build.name+".log"))
	defer k.stop()
	if err := p.rage(ctx, o, c, s); err != nil {
		return r, fmt.Errorf("play: %w", err)
	}
	s.calm()
	calm := time.Now()
	if r.state, r.settled, err = o.settle(ctx, c, calm); err != nil {
		cancel()
		actor.Wait()
		return r, fmt.Errorf("%w (last error of the other controllers: %v)", err, actErr)
	}
	k.stop()
	r.faults, r.kinds = s.counts()
	r.starts, r.cpu = k.starts, k.cpu
	return r, nil
}

// rage runs the play, spread over the time of the storm. Every ten seconds it closes the connections of the operator,
// and makes etcd forget its history. Halfway it kills the API server and starts it again.
func (p plan) rage(ctx context.Context, o *operator, c *cluster, s *storm) error {
	began := time.Now()
	compacted, restarted := began, false
	step := p.storm / 280 // the longest play has 270 steps
	pace := func() error {
		if time.Since(compacted) > 10*time.Second {
			compacted = time.Now()
			s.drop()
			if err := c.compact(ctx); err != nil {
				return fmt.Errorf("compact: %w", err)
			}
			s.note("compaction")
		}
		if !restarted && time.Since(began) > p.storm/2 {
			restarted = true
			if err := c.plane.RestartServer(ctx, nil); err != nil {
				return err
			}
			s.note("server killed")
		}
		select {
		case <-time.After(step):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := o.play(ctx, c, rand.New(rand.NewPCG(p.seed, 2)), pace); err != nil {
		return err
	}
	for time.Since(began) < p.storm {
		if err := pace(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the operator has reached the wanted state, and until that state has not changed for five seconds.
// It returns the state, and how long after calm it was first seen.
func (o *operator) settle(ctx context.Context, c *cluster, calm time.Time) (state []string, took time.Duration, err error) {
	const still = 5 * time.Second
	var since time.Time
	err = wait(ctx, 5*time.Minute, 200*time.Millisecond, func() (string, error) {
		var objects []unstructured.Unstructured
		objects, err := c.list(ctx, o.state...)
		if err != nil {
			return "", err
		}
		if lack := o.lacks(objects); lack != "" {
			state = nil
			return lack, nil
		}
		now := normalize(objects, o.unsorted, o.renamed...)
		if state == nil || !slices.Equal(state, now) {
			state, since = now, time.Now()
		}
		if time.Since(since) < still {
			return "it has not stayed the same for long", nil
		}
		return "", nil
	})
	return state, since.Sub(calm), err
}
