package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// row is a server of one object that is written with optimistic concurrency.
type row struct {
	mu      sync.Mutex // guards the rest
	live    map[string]any
	version int
	gets    int
	puts    []string
	before  func(*row) // called before each PUT, with the lock held
}

func newRow(t testing.TB, text string) *row {
	t.Helper()
	s := &row{}
	if err := json.Unmarshal([]byte(text), &s.live); err != nil {
		t.Fatal(err)
	}
	s.touch()
	return s
}

// touch is what another writer does.
func (s *row) touch() {
	s.version++
	s.live["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(s.version)
}

func (s *row) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPut {
		body, _ := io.ReadAll(r.Body)
		s.puts = append(s.puts, r.URL.Path+" "+string(body))
		if s.before != nil {
			s.before(s)
		}
		var sent map[string]any
		if err := json.Unmarshal(body, &sent); err != nil {
			answer{code: 400, body: status(400, "BadRequest", "not JSON")}.write(w)
			return
		}
		if sent["metadata"].(map[string]any)["resourceVersion"] != fmt.Sprint(s.version) {
			answer{code: 409, body: status(409, "Conflict", "the object has been modified")}.write(w)
			return
		}
		s.live = sent
		s.touch()
	} else {
		s.gets++
	}
	body, _ := json.Marshal(s.live)
	answer{body: string(body)}.write(w)
}

const unknownFields = `{"kind":"ConfigMap","apiVersion":"v1","immutable":false,"big":9007199254740993,
	"metadata":{"namespace":"web","name":"a","uid":"u","labels":{"l":"1"},"managedFields":[{"manager":"m"}],"finalizers":["f"]},
	"data":{"k":"v","other":"o"},"binaryData":{"b":"AA=="}}`

// A projection changes what it names, and everything else survives, numbers to the digit.
func TestModifyKeepsWhatTheTypeDoesNotName(t *testing.T) {
	srv := newRow(t, unknownFields)
	r := client.For(connect(t, srv), slims)
	got := must[*Slim](t)(r.Modify(t.Context(), web, func(obj *Slim) error {
		obj.Data["k"] = "changed"
		delete(obj.Data, "other")
		obj.Data["new"] = "n"
		return nil
	}))
	if got.ResourceVersion != "2" || got.Data["k"] != "changed" {
		t.Errorf("got %+v", got)
	}
	if len(srv.puts) != 1 {
		t.Fatalf("%d writes", len(srv.puts))
	}
	path, body, _ := strings.Cut(srv.puts[0], " ")
	if path != "/api/v1/namespaces/web/configmaps/a" || !strings.Contains(body, `"resourceVersion":"1"`) {
		t.Errorf("sent %s", srv.puts[0])
	}
	var want, sent map[string]any
	text := strings.NewReplacer(`"k":"v","other":"o"`, `"k":"changed","new":"n"`, `"uid":"u"`, `"uid":"u","resourceVersion":"1"`).Replace(unknownFields)
	if err := errors.Join(json.Unmarshal([]byte(text), &want), json.Unmarshal([]byte(body), &sent)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(sent, want) {
		t.Errorf("sent %s\nwant %s", body, text)
	}
}

// A number of the server's beyond 2^53 is written as it was, digit by digit.
func TestModifyKeepsLargeNumbers(t *testing.T) {
	srv := says(strings.Replace(unknownFields, `"uid":"u"`, `"uid":"u","resourceVersion":"1"`, 1))
	must[*Slim](t)(client.For(connect(t, srv), slims).Modify(t.Context(), web, func(obj *Slim) error {
		obj.Data = nil
		return nil
	}))
	if body := srv.all()[1].body; !strings.Contains(body, `"big":9007199254740993`) || strings.Contains(body, `"data"`) {
		t.Errorf("sent %s", body)
	}
}

// behaviour 328
func TestModifyWithoutAChangeSendsNothing(t *testing.T) {
	srv := newRow(t, unknownFields)
	got := must[*Slim](t)(client.For(connect(t, srv), slims).Modify(t.Context(), web, func(obj *Slim) error {
		obj.Data["k"] = "v"
		return nil
	}))
	if len(srv.puts) != 0 || srv.gets != 1 || got.ResourceVersion != "1" || len(got.Data) != 2 {
		t.Errorf("sent %v after %d reads, and got %+v", srv.puts, srv.gets, got)
	}
}

// behaviour 78
func TestModifyTriesAConflictAgainWithTheLiveObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		srv.before = func(s *row) {
			if len(s.puts) <= 3 { // somebody else is faster three times
				s.live["data"].(map[string]any)["k"] = fmt.Sprint("theirs", len(s.puts))
				s.touch()
			}
		}
		var seen []string
		var objects []*Slim
		got := must[*Slim](t)(client.For(connect(t, srv), slims).Modify(t.Context(), web, func(obj *Slim) error {
			for _, old := range objects {
				if old == obj {
					t.Error("an object came twice")
				}
			}
			seen, objects = append(seen, obj.Data["k"]), append(objects, obj)
			obj.Data["mine"] = "m"
			return nil
		}))
		if strings.Join(seen, " ") != "v theirs1 theirs2 theirs3" || got.Data["k"] != "theirs3" || got.Data["mine"] != "m" {
			t.Errorf("saw %v and got %+v", seen, got)
		}
		if srv.gets != 4 || len(srv.puts) != 4 {
			t.Errorf("%d reads and %d writes", srv.gets, len(srv.puts))
		}
	})
}

func TestModifyOfAStatusGoesThroughIt(t *testing.T) {
	srv := newRow(t, unknownFields)
	must[*Slim](t)(client.For(connect(t, srv), slims).Status().Modify(t.Context(), web, func(obj *Slim) error {
		obj.Data["k"] = "s"
		return nil
	}))
	if len(srv.puts) != 1 || !strings.HasPrefix(srv.puts[0], "/api/v1/namespaces/web/configmaps/a/status ") {
		t.Errorf("sent %v", srv.puts)
	}
}

// behaviour 328: a change of the name or the namespace, too
func TestModifyDoesNotRetryPermanentErrors(t *testing.T) {
	errMine := errors.New("mine")
	answered := func(a ...answer) func(t *testing.T) (http.Handler, func() int) {
		return func(*testing.T) (http.Handler, func() int) {
			s := answers(a...)
			return s, func() int { return len(s.all()) }
		}
	}
	live := func(t *testing.T) (http.Handler, func() int) {
		s := newRow(t, unknownFields)
		return s, func() int { return s.gets + len(s.puts) }
	}
	current := answer{body: object("a", "1")}
	change := func(obj *Slim) error { obj.Data = map[string]string{"k": "new"}; return nil }
	for _, test := range []struct {
		name     string
		server   func(t *testing.T) (http.Handler, func() int)
		mutate   func(*Slim) error
		want     string
		wrapped  error
		requests int
	}{
		{"an error of mutate's", live, func(*Slim) error { return errMine }, `modify configmaps "web/a": mine`, errMine, 1},
		// Such as that of a write to another object: it says nothing about this one.
		{
			"a conflict of mutate's", live, func(*Slim) error { return fmt.Errorf("nested: %w", apierrors.Conflict) },
			`modify configmaps "web/a": nested: Conflict`, apierrors.Conflict, 1,
		},
		{
			"another name", live, func(obj *Slim) error { obj.Name = "b"; return nil },
			`modify configmaps "web/a": the change sets metadata.name from "a" to "b", but no write can change it`, nil, 1,
		},
		{
			"another namespace", live, func(obj *Slim) error { obj.Namespace = "b"; return nil },
			`metadata.namespace from "web" to "b"`, nil, 1,
		},
		{"another uid", live, func(obj *Slim) error { obj.UID = ""; return nil }, `metadata.uid from "u" to ""`, nil, 1},
		{
			"another version, for which nobody would conflict", live,
			func(obj *Slim) error { obj.ResourceVersion = ""; return nil }, `metadata.resourceVersion from "1" to ""`,
			nil, 1,
		},
		{
			"no object", answered(answer{code: 404, body: status(404, "NotFound", "no")}), change,
			`get configmaps "web/a": server said NotFound (404): no`, apierrors.NotFound, 1,
		},
		{"an object without a version", answered(answer{body: object("a", "")}), change, "without a resource version", nil, 1},
		{
			"one that does not decode", answered(answer{body: strings.Replace(object("a", "1"), `{}`, `7`, 1)}),
			change, `decode "web/a"`, nil, 1,
		},
		{
			"a refused write", answered(current, answer{code: 422, body: status(422, "Invalid", "no")}), change,
			`update configmaps "web/a": server said Invalid (422): no`, apierrors.Invalid, 2,
		},
		{
			"a name that is taken", answered(current, answer{code: 409, body: status(409, "AlreadyExists", "no")}),
			change, "AlreadyExists", apierrors.AlreadyExists, 2,
		},
		{
			"an object that went in between",
			answered(current, answer{code: 409, body: status(409, "Conflict", "no")}, answer{code: 404, body: status(404, "NotFound", "no")}),
			change, `get configmaps "web/a": server said NotFound`, apierrors.NotFound, 3,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, requests := test.server(t)
				got, err := client.For(connect(t, h), slims).Modify(t.Context(), web, test.mutate)
				wantErr(t, err, test.want)
				if got != nil {
					t.Errorf("beside the error there is %+v", got)
				}
				if test.wrapped != nil && !errors.Is(err, test.wrapped) {
					t.Errorf("%v is not in %v", test.wrapped, err)
				}
				is[*client.OpError](t, err)
				if n := requests(); n != test.requests {
					t.Errorf("%d requests, want %d", n, test.requests)
				}
			})
		})
	}
}

// behaviour 78: attempts are bounded, and so is the time they take.
func TestModifyGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		srv.before = (*row).touch
		r := client.For(connect(t, srv), slims)
		start, calls := time.Now(), 0
		_, err := r.Modify(t.Context(), web, func(obj *Slim) error {
			calls++
			obj.Data["k"] = "new"
			return nil
		})
		if !errors.Is(err, apierrors.Conflict) {
			t.Errorf("error is %v, want the last conflict", err)
		}
		wantErr(t, err, `modify configmaps "web/a": gave up after attempt 50, lost against "m" (resource version "51"): update configmaps "web/a": server said Conflict (409): the object has been modified`)
		if calls != 50 || len(srv.puts) != 50 {
			t.Errorf("%d calls and %d writes, want 50", calls, len(srv.puts))
		}
		if took := time.Since(start); took < 5*time.Second || took > 50*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestModifyEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		srv.before = (*row).touch
		r := client.For(connect(t, srv), slims)
		cause := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		_, err := r.Modify(ctx, web, func(obj *Slim) error {
			if obj.ResourceVersion == "5" {
				cancel(cause)
			}
			obj.Data["k"] = "new"
			return nil
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("error is %v, want that it was canceled, and why", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}

		// During a pause.
		ctx, cancelPause := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancelPause()
		start = time.Now()
		_, err = r.Modify(ctx, web, func(obj *Slim) error { obj.Data["k"] = "new"; return nil })
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
			t.Errorf("error is %v after %v", err, took)
		}
		wantErr(t, err, "gave up after attempt ")
		if !errors.Is(err, apierrors.Conflict) {
			t.Errorf("the last conflict is not in %v", err)
		}
	})
}

// Many writers of one object all get their change in.
func TestConcurrentModifiesLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		r := client.For(connect(t, srv), slims)
		var writers sync.WaitGroup
		for i := range 10 {
			writers.Go(func() {
				if _, err := r.Modify(t.Context(), web, func(obj *Slim) error {
					obj.Data[fmt.Sprint(i)] = "x"
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if n := len(srv.live["data"].(map[string]any)); n != 12 {
			t.Errorf("%d members, want 12: %v", n, srv.live["data"])
		}
	})
}

// What cannot be encoded any more is not sent.
func TestModifyRefusesWhatCannotBeEncoded(t *testing.T) {
	srv := newRow(t, unknownFields)
	r := client.For(connect(t, srv), configMaps)
	_, err := r.Modify(t.Context(), web, func(obj *ConfigMap) error { obj.Kind = "Secret"; return nil })
	wantErr(t, err, `modify configmaps "web/a": encode *client_test.ConfigMap: its kind must be "ConfigMap" or empty, got "Secret"`)
	if len(srv.puts) != 0 {
		t.Errorf("sent %v", srv.puts)
	}
}

// It used to panic.
func TestModifyNeedsAChange(t *testing.T) {
	_, err := client.For(connect(t, newRow(t, unknownFields)), configMaps).Modify(t.Context(), web, nil)
	wantErr(t, err, `modify configmaps "web/a": mutate must be set`)
}

// A full type changes through its own fields, and what it does not know still survives.
func TestModifyWithAFullType(t *testing.T) {
	srv := newRow(t, unknownFields)
	got := must[*ConfigMap](t)(client.For(connect(t, srv), configMaps).Modify(t.Context(), web, func(obj *ConfigMap) error {
		obj.Labels["l2"] = "2"
		obj.Finalizers = nil
		return nil
	}))
	if got.Labels["l2"] != "2" || len(got.Finalizers) != 0 {
		t.Errorf("got %+v", got.ObjectMeta)
	}
	if md := srv.live["metadata"].(map[string]any); srv.live["binaryData"] == nil || md["managedFields"] == nil || md["finalizers"] != nil {
		t.Errorf("left %v", srv.live)
	}
	if meta.KeyOf(got) != web {
		t.Errorf("got %v", meta.KeyOf(got))
	}
}
