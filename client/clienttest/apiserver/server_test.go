package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

func open(t *testing.T, config client.Config) *client.Client {
	t.Helper()
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// colors describes a resource of the tests.
func colors() clienttest.Resource {
	return clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Color", Resource: "colors", Status: true}
}

func TestAServerIsReadyWithWhatItsOptionsName(t *testing.T) {
	dir := t.TempDir()
	objects := filepath.Join(dir, "objects.yaml")
	write(t, objects, `
kind: ConfigMap
apiVersion: v1
metadata: {name: settings, namespace: paint}
---
kind: Color
apiVersion: example.com/v1
metadata: {name: red}
spec: {shade: 3}
`)
	crds := filepath.Join(dir, "crds.yaml")
	write(t, crds, `
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: brushes.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: brushes, singular: brush, kind: Brush, listKind: BrushList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {width: {type: integer}}}}
`)
	s := Start(t, Options{
		bin: programs(t), CRDs: []string{crds}, Objects: []string{objects}, Resources: []clienttest.Resource{colors()}, ControllerManager: true,
	})
	c := open(t, s.Config())
	if _, err := client.For(c, conformance.ConfigMaps).Get(t.Context(), meta.Key{Namespace: "paint", Name: "settings"}); err != nil {
		t.Error(err)
	}
	red, err := client.For(c, client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Color", Resource: "colors"}).
		Get(t.Context(), meta.Key{Namespace: "default", Name: "red"})
	if err != nil {
		t.Fatal(err)
	}
	if shade, _, _ := meta.Nested[int64](red, "spec", "shade"); shade != 3 {
		t.Errorf("the shade is %d, want the 3 of the file", shade)
	}
	brushes := client.For(c, client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Brush", Resource: "brushes", Scope: meta.Cluster})
	if list, err := brushes.List(t.Context(), client.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("the list of brushes is %v, %v, want an empty one", list.Items, err)
	}
	if text, err := os.ReadFile(s.Kubeconfig()); err != nil || !strings.Contains(string(text), s.Config().Server) {
		t.Errorf("the kubeconfig does not name the server: %s, %v", text, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOptionsThatCannotBeUsedAreErrorsThatNameTheField(t *testing.T) {
	missing, empty, old := filepath.Join(t.TempDir(), "none.yaml"), filepath.Join(t.TempDir(), "empty.yaml"), filepath.Join(t.TempDir(), "old.yaml")
	write(t, empty, "# nothing\n")
	write(t, old, "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\nmetadata: {name: a.b.c}\n")
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"a minor", Options{Minor: "1.2"}, `apiserver.Options: Minor: minor release of Kubernetes "1.2": must be one of ["1.37" "1.36" "1.35"], or empty for the newest`},
		{"a flag", Options{Flags: []string{"--v=2", "v=2"}}, `apiserver.Options: Flags[1] must be a flag of kube-apiserver such as --name=value, got "v=2"`},
		{"no such file", Options{CRDs: []string{missing}}, "apiserver.Options: CRDs[0]: stat " + missing},
		{"no definition", Options{CRDs: []string{empty}}, "apiserver.Options: CRDs[0]: " + empty + " has no CustomResourceDefinition"},
		{"no object", Options{Objects: []string{empty}}, "apiserver.Options: Objects[0]: " + empty + " has no object"},
		{"an old definition", Options{CRDs: []string{old}}, `install the definition "a.b.c": apiVersion must be apiextensions.k8s.io/v1, got "apiextensions.k8s.io/v1beta1"`},
		{
			"a resource of the core group",
			Options{Resources: []clienttest.Resource{{Version: "v1", Kind: "Color", Resource: "colors"}}},
			`apiserver.Options: Resources[0]: clienttest.Resource "colors": Group must be set`,
		},
		{
			"selectable fields without a schema",
			Options{Resources: []clienttest.Resource{{Group: "a.b", Version: "v1", Kind: "Color", Resource: "colors", SelectableFields: []string{"spec.x"}}}},
			`SelectableFields need a Schema`,
		},
		{
			"a schema that is not JSON",
			Options{Resources: []clienttest.Resource{{Group: "a.b", Version: "v1", Kind: "Color", Resource: "colors", Schema: []byte("{")}}},
			`read the Schema: unexpected end of JSON input`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.bin = programs(t)
			s := New(tc.o)
			err := s.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run returned %v, want %s", err, tc.want)
			}
			if again := s.WaitReady(t.Context()); again == nil || again.Error() != err.Error() {
				t.Errorf("WaitReady returned %v, want the error of Run", again)
			}
			if _, err := client.New(s.Config()); err == nil {
				t.Error("the server has a configuration although it cannot run")
			}
		})
	}
}

func TestAServerRunsOnce(t *testing.T) {
	s := New(Options{bin: programs(t)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err == nil || !strings.Contains(err.Error(), "Run was called twice") {
		t.Errorf("the second Run returned %v", err)
	}
	dir := filepath.Dir(s.Kubeconfig())
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run returned %v after the end of its context", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the run is still there: %v", err)
	}
}

func TestTheEndOfTheContextEndsAStart(t *testing.T) {
	why := errors.New("nobody wants it any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	s := New(Options{bin: programs(t)})
	if err := s.Run(ctx); !errors.Is(err, why) {
		t.Errorf("Run returned %v, want the cause of the context's end", err)
	}
	idle, cancelled := New(Options{}), ctx
	if err := idle.WaitReady(cancelled); !errors.Is(err, why) {
		t.Errorf("WaitReady returned %v, want the cause of the context's end", err)
	}
}

func TestAServerDoesNotRunInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := New(Options{bin: "none"}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "bubble of testing/synctest") {
			t.Errorf("Run returned %v, want why not in a bubble", err)
		}
	})
}

// recorder is a test that fails without an effect on ours.
type recorder struct {
	mu       sync.Mutex // guards the rest
	said     []string
	failed   chan struct{} // closed at the first failure
	cleanups []func()
	deadline time.Time
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	select {
	case <-r.failed:
	default:
		close(r.failed)
	}
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r) // testing.T ends the goroutine
}

func (r *recorder) Failed() bool {
	select {
	case <-r.failed:
		return true
	default:
		return false
	}
}

func (r *recorder) Deadline() (time.Time, bool) { return r.deadline, !r.deadline.IsZero() }

// end runs the cleanups, and returns what the test has said.
func (r *recorder) end() string {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.said, "\n")
}

func TestAServerThatDiesFailsTheTestWithItsLog(t *testing.T) {
	r := &recorder{failed: make(chan struct{})}
	s := Start(r, Options{bin: programs(t), Flags: []string{"--die=GET"}})
	config := s.Config()
	config.Retry.Attempts = 1
	_, err := client.For(open(t, config), conformance.ConfigMaps).List(t.Context(), client.ListOptions{})
	if err == nil {
		t.Error("the list succeeded although the server ended")
	}
	<-r.failed
	said := r.end()
	for _, want := range []string{"kube-apiserver ended by itself: exit status 7", "this is the log of the API server", "ended on demand"} {
		if !strings.Contains(said, want) {
			t.Errorf("the test said %q, want %q in it", said, want)
		}
	}
}

func TestTheLogIsShownOnlyIfTheTestFails(t *testing.T) {
	for _, fails := range []bool{false, true} {
		r := &recorder{failed: make(chan struct{})}
		Start(r, Options{bin: programs(t)})
		if fails {
			r.Errorf("the test failed for its own reasons")
		}
		if said := r.end(); strings.Contains(said, "this is the log of the API server") != fails {
			t.Errorf("failed: %t; the test said %q", fails, said)
		}
	}
}

func TestAStartGivesUpBeforeTheTimeLimitOfTheTest(t *testing.T) {
	r := &recorder{failed: make(chan struct{}), deadline: time.Now().Add(margin)}
	defer func() {
		if recover() != any(r) {
			t.Error("Start returned")
		}
		if said := r.end(); !strings.Contains(said, "the time limit of the test (-timeout) ends in 5s") {
			t.Errorf("the test said %q, want that its time limit is near", said)
		}
	}()
	Start(r, Options{bin: programs(t)})
}

// The servers are not children of this test, so their ends show in what they leave: the directory goes, and nobody
// listens.
func TestTheServersEndWithAProcessThatIsKilled(t *testing.T) {
	cmd := exec.Command(build.Path(programs(t), "outsider"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir, server string
	if _, err := fmt.Fscanln(bufio.NewReader(out), &dir, &server); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(server, "https://")
	if conn, err := net.Dial("tcp", address); err != nil {
		t.Fatal(err)
	} else {
		defer conn.Close() // it ends with the server
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the server sent something, want that its connection ends")
		}
	}
	_ = cmd.Wait() // killed, as above
	// The first of the servers that notices removes the directory, and then ends.
	left := func() string {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return "the server still listens"
		}
		if _, err := os.Stat(filepath.Join(dir, "kubeconfig")); !errors.Is(err, os.ErrNotExist) {
			return fmt.Sprintf("the directory of the run is still there: %v", err)
		}
		return ""
	}
	for end := time.Now().Add(time.Minute); left() != ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(left())
		}
	}
}
