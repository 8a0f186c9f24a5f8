package leader_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/machine"
)

// The test binary plays a contender in a process of its own, told by its first argument. The tests of internal/proof/e2e build it, stop it
// with signals, and set its wall clock, which no other program can.
//
// Its second argument is a [processConfig] in JSON. It writes [processEvent]s to its standard output, one a line. A line of its
// standard input sets the wall clock by that duration; the end of the input ends it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "contend" {
		if err := playProcess(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type processConfig struct {
	Server, Token string
	CA            []byte
	Cert, Key     []byte
	Namespace     string
	Name          string
	Identity      string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
	Every         time.Duration // between two writes of the leader
}

// processEvent is what a process says: that it "leads", that a write was "refused", that it has "ended" to lead, or a "failure".
type processEvent struct {
	Event  string
	Term   int64
	N      int // of the write
	Reason string
	Err    string
}

func playProcess(config string, in io.Reader, out io.Writer) error {
	var o processConfig
	if err := json.Unmarshal([]byte(config), &o); err != nil {
		return err
	}
	c, err := client.New(client.Config{Server: o.Server, BearerToken: client.Secret(o.Token), TLS: client.TLS{
		CAData: client.Secret(o.CA), CertData: client.Secret(o.Cert), KeyData: client.Secret(o.Key),
	}})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(e processEvent) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(out).Encode(e) // nobody to tell
	}
	elector := leader.New(c, leader.Options{
		Namespace: o.Namespace, Name: o.Name, Identity: o.Identity,
		LeaseDuration: o.LeaseDuration, RenewDeadline: o.RenewDeadline, RetryPeriod: o.RetryPeriod,
		OnError: func(err error) { say(processEvent{Event: "failure", Err: err.Error()}) },
	})
	m := machine.New()
	runsOn(m, elector)

	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if d, err := time.ParseDuration(strings.TrimSpace(lines.Text())); err == nil {
				m.Step(d)
			}
		}
	}()
	n := 0
	maps := client.For(c, ConfigMaps)
	for ctx.Err() == nil {
		var term int64
		err := elector.Run(ctx, func(ctx context.Context) error {
			t, _ := leader.TermOf(ctx)
			term = t.Number
			say(processEvent{Event: "leads", Term: term})
			for ctx.Err() == nil {
				n++
				_, err := maps.Create(ctx, &ConfigMap{
					ObjectMeta: meta.ObjectMeta{Namespace: o.Namespace, GenerateName: "write-"},
					Data:       map[string]string{"identity": o.Identity, "term": fmt.Sprint(term), "n": fmt.Sprint(n)},
				})
				if err != nil {
					say(processEvent{Event: "refused", Term: term, N: n, Err: err.Error()})
				}
				select {
				case <-ctx.Done():
				case <-time.After(o.Every):
				}
			}
			return nil
		})
		e := processEvent{Event: "ended", Term: term}
		if lost := (*leader.LostError)(nil); errors.As(err, &lost) {
			e.Reason = string(lost.Reason)
		}
		if err != nil {
			e.Err = err.Error()
		}
		say(e)
	}
	return nil
}
