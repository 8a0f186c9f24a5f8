package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Tally is a custom resource that counts, with a status subresource.
type Tally struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            TallyPart `json:"spec,omitzero"`
	Status          TallyPart `json:"status,omitzero"`
}

// TallyPart is a counter, and the names of the writers that have counted.
type TallyPart struct {
	N     int      `json:"n,omitempty"`
	By    []string `json:"by,omitempty"`
	Other string   `json:"other,omitempty"`
}

// TallyView is a projection of a Tally.
type TallyView struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		N  int      `json:"n,omitempty"`
		By []string `json:"by,omitempty"`
	} `json:"spec"`
}

// Tallies is the resource, and TallyDefinition the custom resource definition that serves it.
var Tallies = client.Type[*Tally]{Group: "conformance.bowline.example", Version: "v1", Kind: "Tally", Resource: "tallies"}

// TallyDefinition is the definition of Tallies in JSON.
const TallyDefinition = `{"metadata": {"name": "tallies.conformance.bowline.example"}, "spec": {
	"group": "conformance.bowline.example", "scope": "Namespaced",
	"names": {"kind": "Tally", "plural": "tallies", "singular": "tally"},
	"versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
		"type": "object", "properties": {
			"spec": {"type": "object", "properties": {
				"n": {"type": "integer"}, "by": {"type": "array", "items": {"type": "string"}}, "other": {"type": "string"}}},
			"status": {"type": "object", "properties": {
				"n": {"type": "integer"}, "by": {"type": "array", "items": {"type": "string"}}, "other": {"type": "string"}}}
		}}}}]
}}`

// WritersAgent is the User-Agent of the writers of RunWriters.
const WritersAgent = "writers/1"

// RunWriters makes 64 writers count on one object at once, by Modify: on a config map, on a custom resource, on its
// status and through a projection of it. The server of cfg must serve Tallies. wrap wraps the transport of the writers,
// such as with [Faults]; it may be nil.
//
// Each writer counts once. If an error says that nothing was written, the writer tries again; if the error leaves open
// whether something was written, the writer gives up. In the end, each writer that succeeded must have counted exactly
// once, and each writer that gave up at most once.
func RunWriters(t *testing.T, cfg client.Config, wrap func(http.RoundTripper) http.RoundTripper) {
	s := newSuite(t, cfg)
	tallies := client.For(s.client, Tallies)
	cfg.Wrap, cfg.UserAgent = wrap, WritersAgent
	cfg.Retry = client.Retry{Wait: 20 * time.Millisecond, Burst: -1}
	cfg.StallTimeout = 5 * time.Second
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	key := meta.Key{Namespace: s.namespace(t), Name: "tally"}
	made := &Tally{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	made.Spec.Other = "stays"
	must[*Tally](t)(tallies.Create(t.Context(), made))
	counter := newConfigMap(key.Namespace, key.Name, nil)
	counter.Data = map[string]string{"n": "0", "by": "", "other": "stays"}
	must[*ConfigMap](t)(s.configMaps.Create(t.Context(), counter))

	ours, views := client.For(c, Tallies), client.For(c, client.Type[*TallyView](Tallies))
	for _, test := range []struct {
		name  string
		count func(ctx context.Context, by string) error
		tally func() TallyPart
	}{
		{
			"a config map",
			func(ctx context.Context, by string) error {
				_, err := client.For(c, ConfigMaps).Modify(ctx, key, func(m *ConfigMap) error {
					n, err := strconv.Atoi(m.Data["n"])
					m.Data["n"], m.Data["by"] = strconv.Itoa(n+1), m.Data["by"]+" "+by
					return err
				})
				return err
			},
			func() TallyPart {
				m := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key))
				return TallyPart{N: must[int](t)(strconv.Atoi(m.Data["n"])), By: strings.Fields(m.Data["by"]), Other: m.Data["other"]}
			},
		},
		{
			"a custom resource",
			func(ctx context.Context, by string) error {
				_, err := ours.Modify(ctx, key, func(o *Tally) error { o.Spec.count(by); return nil })
				return err
			},
			func() TallyPart { return must[*Tally](t)(tallies.Get(t.Context(), key)).Spec },
		},
		{
			"a status",
			func(ctx context.Context, by string) error {
				_, err := ours.Status().Modify(ctx, key, func(o *Tally) error {
					o.Status.count(by)
					o.Status.Other = "stays"
					return nil
				})
				return err
			},
			func() TallyPart { return must[*Tally](t)(tallies.Get(t.Context(), key)).Status },
		},
		{
			"a projection",
			func(ctx context.Context, by string) error {
				_, err := views.Modify(ctx, key, func(o *TallyView) error {
					o.Spec.N++
					o.Spec.By = append(o.Spec.By, by)
					return nil
				})
				return err
			},
			func() TallyPart { return must[*Tally](t)(tallies.Get(t.Context(), key)).Spec },
		},
	} {
		before := test.tally().N
		outcome := write64(t, test.name, test.count)
		after := test.tally()
		counted := map[string]int{}
		for _, by := range after.By {
			counted[by]++
		}
		sure, unsure := 0, 0
		for by, known := range outcome {
			if n := counted[by]; known && n != 1 || n > 1 {
				t.Errorf("%s is there %d times; it knows that it has written: %v", by, n, known)
			}
			if known {
				sure++
			} else {
				unsure++
			}
		}
		if after.N != len(after.By) || after.N < before+sure || after.N > before+sure+unsure {
			t.Errorf("%s: %d at the end, by %d, want %d to %d", test.name, after.N, len(after.By), before+sure, before+sure+unsure)
		}
		equal(t, "the other member of "+test.name, after.Other, "stays")
		if sure < len(outcome)/8 {
			t.Errorf("%s: only %d of %d writers know that they have written", test.name, sure, len(outcome))
		}
		t.Logf("%s: %d writers have written, and %d may have", test.name, sure, unsure)
	}
}

func (p *TallyPart) count(by string) {
	p.N++
	p.By = append(p.By, by)
}

// write64 runs 64 writers at once, and returns for each whether it knows that it has written.
func write64(t *testing.T, name string, count func(ctx context.Context, by string) error) map[string]bool {
	t.Helper()
	var (
		mu      sync.Mutex // guards known
		known   = map[string]bool{}
		writers sync.WaitGroup
	)
	for i := range 64 {
		by := fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), i)
		writers.Go(func() {
			for range 50 {
				err := count(t.Context(), by)
				modify := (*client.ModifyError)(nil)
				if err != nil && (!errors.As(err, &modify) || !modify.MayHaveWritten) {
					continue
				}
				mu.Lock()
				known[by] = err == nil
				mu.Unlock()
				return
			}
			t.Errorf("%s has not come through", by)
		})
	}
	writers.Wait()
	return known
}

// Faults returns a network between a client and a server with many faults, which the seed chooses.
func Faults(seed uint64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return &faults{next: next, random: rand.New(rand.NewPCG(seed, 1))}
	}
}

type faults struct {
	next http.RoundTripper

	mu     sync.Mutex // guards random
	random *rand.Rand
}

func (f *faults) draw(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.IntN(n)
}

// RoundTrip implements http.RoundTripper.
func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	switch f.draw(60) {
	case 0, 1: // it never arrives
		return nil, syscall.ECONNRESET
	case 2, 3: // it arrives, and the answer does not
		return f.lose(r, nil, syscall.ECONNRESET)
	case 4: // the same, behind a proxy
		return f.lose(r, answered(r, http.StatusBadGateway, "", "the connection was lost"), nil)
	case 5:
		return f.lose(r, answered(r, http.StatusInternalServerError, "1", "the answer was lost, and the server asks to try again"), nil)
	case 6:
		return answered(r, http.StatusGatewayTimeout, "", "not before it was too late"), nil
	case 7, 8:
		return answered(r, http.StatusTooManyRequests, "1", "not now"), nil
	case 9:
		return answered(r, http.StatusServiceUnavailable, "1", "not now"), nil
	case 10, 11, 12, 13:
		if r.Method == http.MethodPut { // many conflicts for the writers
			return answered(r, http.StatusConflict, "", "somebody was faster"), nil
		}
	case 14, 15:
		if err := f.wait(r.Context()); err != nil {
			return nil, err
		}
	case 16, 17:
		resp, err := f.next.RoundTrip(r)
		if err == nil {
			err = f.wait(r.Context())
		}
		return resp, err
	case 18, 19, 20:
		resp, err := f.next.RoundTrip(r)
		if err == nil { // the body breaks off
			resp.Body = &half{resp.Body, f.draw(200)}
		}
		return resp, err
	}
	return f.next.RoundTrip(r)
}

// lose sends a request, and returns another answer, or an error, in place of its answer.
func (f *faults) lose(r *http.Request, instead *http.Response, err error) (*http.Response, error) {
	resp, failed := f.next.RoundTrip(r)
	if failed != nil {
		return nil, failed
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return instead, err
}

func (f *faults) wait(ctx context.Context) error {
	slow := time.NewTimer(time.Duration(f.draw(100)) * time.Millisecond)
	defer slow.Stop()
	select {
	case <-slow.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answered is an answer that no server has sent.
func answered(r *http.Request, code int, after, message string) *http.Response {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if after != "" {
		header.Set("Retry-After", after)
	}
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// half is a body that breaks off after a number of bytes, left.
type half struct {
	io.ReadCloser
	left int
}

func (h *half) Read(b []byte) (int, error) {
	if h.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := h.ReadCloser.Read(b[:min(len(b), h.left)])
	h.left -= n
	return n, err
}
