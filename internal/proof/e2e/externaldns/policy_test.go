package externaldns_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns"
)

func endpoint(name, kind string, targets ...string) *externaldns.Endpoint {
	return &externaldns.Endpoint{Name: name, Type: kind, Targets: targets}
}

func TestOnlySyncDeletesAndOnlyItsOwnRecordsOnEitherServer(t *testing.T) {
	onEither(t, nil, func(w *world) {
		theirs := externaldns.Changes{Create: []*externaldns.Endpoint{
			endpoint("manual.example.com", "A", "192.0.2.100"), endpoint("manual.example.org", "CNAME", "x.example.org"),
			endpoint("other.example.com", "A", "192.0.2.101"),
			endpoint("a-other.example.com", "TXT", `"heritage=external-dns,external-dns/owner=b,external-dns/resource=service/default/other"`),
		}}
		if err := w.provider.Apply(w.Context(), theirs); err != nil {
			w.Fatal(err)
		}
		stay := []string{"manual.example.com A 192.0.2.100", "manual.example.org CNAME x.example.org", "other.example.com A 192.0.2.101"}
		services := client.For(w.admin, core.Services())
		w.run(externaldns.Options{Owner: "a", Domains: []string{"example.com", "example.org"}})
		must(services.Create(w.Context(), service("a", "a.example.com, manual.example.com, manual.example.org, other.example.com, a.example.net", "192.0.2.1")))(w)
		w.records(append(stay, "a.example.com A 192.0.2.1")...)
		key := meta.Key{Namespace: "default", Name: "a"}
		must(services.Modify(w.Context(), key, func(s *core.Service) error { s.Spec.ExternalIPs = []string{"192.0.2.2"}; return nil }))(w)
		w.records(append(stay, "a.example.com A 192.0.2.2")...)
		if err := services.Delete(w.Context(), key, client.DeleteOptions{}); err != nil {
			w.Fatal(err)
		}
		must(services.Create(w.Context(), service("c", "c.example.com", "192.0.2.3")))(w)
		w.records(append(stay, "a.example.com A 192.0.2.2", "c.example.com A 192.0.2.3")...)

		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		w.records(append(stay, "c.example.com A 192.0.2.3")...)
		records := must(w.provider.Records(w.Context()))(w)
		if n := len(records); n != 6 { // with the TXT records of c.example.com and of other.example.com
			w.Errorf("the provider has %d records", n)
		}
	})
}

// If two objects want one record, the one that has it keeps it until it goes.
func TestARecordStaysWithItsObjectOnEitherServer(t *testing.T) {
	onEither(t, nil, func(w *world) {
		services := client.For(w.admin, core.Services())
		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		must(services.Create(w.Context(), service("second", "a.example.com", "192.0.2.2")))(w)
		w.records("a.example.com A 192.0.2.2")
		must(services.Create(w.Context(), service("first", "a.example.com, b.example.com", "192.0.2.1")))(w)
		w.records("a.example.com A 192.0.2.2", "b.example.com A 192.0.2.1")
		if err := services.Delete(w.Context(), meta.Key{Namespace: "default", Name: "second"}, client.DeleteOptions{}); err != nil {
			w.Fatal(err)
		}
		w.records("a.example.com A 192.0.2.1", "b.example.com A 192.0.2.1")
		must(services.Create(w.Context(), &core.Service{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "alias", Annotations: map[string]string{"external-dns.alpha.kubernetes.io/hostname": "b.example.com, c.example.com"}},
			Spec:       core.ServiceSpec{Type: "ExternalName", ExternalName: "x.example.net"},
		}))(w)
		w.records("a.example.com A 192.0.2.1", "b.example.com A 192.0.2.1", "c.example.com CNAME x.example.net")
	})
}

// An hour in which nothing happens changes no record and writes no object.
func TestAnIdleControllerChangesNothing(t *testing.T) {
	onFake(t, clienttest.Options{CRDs: []string{"definitions"}}, func(w *world) {
		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		w.put(everything())
		w.records(recordsOfEverySource()...)
		time.Sleep(time.Minute)
		synctest.Wait()
		applied, before := w.provider.Applied(), w.server.Requests()
		time.Sleep(time.Hour)
		if n := w.provider.Applied() - applied; n != 0 {
			t.Errorf("the provider was changed %d times", n)
		}
		for call, n := range w.server.Requests() {
			if call.Verb != "list" && call.Verb != "watch" && n != before[call] {
				t.Errorf("%d requests %v although nothing has changed", n-before[call], call)
			}
		}
	})
}

// flaky fails now and then, before or after it has made the changes.
type flaky struct {
	externaldns.Memory
	calls int
}

func (f *flaky) Apply(ctx context.Context, c externaldns.Changes) error {
	if f.calls++; f.calls%3 == 1 {
		return context.DeadlineExceeded
	}
	err := f.Memory.Apply(ctx, c)
	if f.calls%3 == 2 && err == nil {
		return context.DeadlineExceeded
	}
	return err
}

func TestAProviderThatFailsIsAskedAgain(t *testing.T) {
	onFake(t, clienttest.Options{}, func(w *world) {
		provider := new(flaky)
		group, err := externaldns.New(w.admin, provider, externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		if err != nil {
			w.Fatal(err)
		}
		ctx, stop := context.WithCancel(w.Context())
		ended := make(chan error, 1)
		go func() { ended <- group.Run(ctx) }()
		services := client.For(w.admin, core.Services())
		for _, name := range []string{"a", "b", "c", "d"} {
			must(services.Create(w.Context(), service(name, name+".example.com", "192.0.2.1")))(w)
			time.Sleep(10 * time.Minute)
		}
		records := must(provider.Records(w.Context()))(w)
		names := slices.DeleteFunc(records, func(e *externaldns.Endpoint) bool { return e.Type == "TXT" })
		if len(names) != 4 || provider.calls < 6 {
			w.Errorf("the provider has %d records after %d calls", len(names), provider.calls)
		}
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

func TestWrongOptionsAreErrors(t *testing.T) {
	for says, o := range map[string]externaldns.Options{
		"Owner must be set": {}, `Policy must be "" or "sync", got "delete"`: {Owner: "a", Policy: "delete"},
	} {
		if _, err := externaldns.New(nil, nil, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
