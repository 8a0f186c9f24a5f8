package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The storms wait most of their time, so they wait together, however few processors there are. None of them is to find a cluster.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := errors.Join(os.Unsetenv("KUBECONFIG"), flag.Set("test.parallel", "4")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // of the error
	}{
		{"an unknown flag", []string{"-nonsense"}, "-nonsense"},
		{"an argument", []string{"now"}, `"now"`},
		{"no objects", []string{"-objects", "0"}, "-objects must be between"},
		{"objects that are no number", []string{"-objects", "many"}, "many"},
		{"no workers", []string{"-workers", "0"}, "-workers must be between"},
		{"no time", []string{"-timeout", "0s"}, "-timeout must be positive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(test.args, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want one line with %s", err, test.want)
			}
		})
	}
	var help bytes.Buffer
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-kubeconfig") {
		t.Errorf("-help gives %v and %q, want the flags", err, help.String())
	}
	o, err := parse(nil, io.Discard)
	if err != nil || o.objects != 1000 {
		t.Errorf("without flags there are %d objects, %v; want 1000", o.objects, err)
	}
}

// playWith runs the program as its users do, with its standard streams in files.
func playWith(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	o, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out bytes.Buffer
	code = run(ctx, o, &out, file)
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, out.String(), string(b)
}

func TestTheStormLeavesNothingWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, encoding string
		args           []string
	}{
		{"JSON", "JSON", nil},
		{"protobuf", "protobuf", []string{"-protobuf"}},
		{"compact", "protobuf", []string{"-protobuf", "-compact"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			leavesNothingWrong(t, c.encoding, append(c.args, "-objects", "200", "-json")...)
		})
	}
}

func leavesNothingWrong(t *testing.T, encoding string, args ...string) {
	code, stdout, stderr := playWith(t, t.Context(), args...)
	var members map[string]any
	var got summary
	if err := errors.Join(json.Unmarshal([]byte(stdout), &members), json.Unmarshal([]byte(stdout), &got)); err != nil || code != 0 {
		t.Fatalf("exit status %d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}
	keys := []string{
		"conflictsRetried", "encoding", "events", "inSync", "listMode", "objects", "orphans", "peakRSSBytes", "reconciles", "relists", "seconds",
		"watches", "wrong",
	}
	if found := slices.Sorted(maps.Keys(members)); !slices.Equal(found, keys) {
		t.Errorf("the summary has %v, want %v", found, keys)
	}
	if got.Objects < 180 || got.InSync != got.Objects || got.Wrong != 0 || got.Orphans != 0 {
		t.Errorf("the summary is %+v", got)
	}
	if got.ListMode != "Streaming" || got.Encoding != encoding {
		t.Errorf("the cache was filled in mode %q with %s, want Streaming and %s", got.ListMode, got.Encoding, encoding)
	}
	if got.Relists == 0 || got.Watches < 8 || got.Reconciles < 200 || got.PeakRSSBytes < 1<<20 {
		t.Errorf("the summary is %+v, want relists, watches beyond the first 4, reconciles and memory", got)
	}
}

func TestAnInterruptEndsTheProgramWithinASecond(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var began time.Time
	defer time.AfterFunc(300*time.Millisecond, func() {
		began = time.Now()
		interrupt()
	}).Stop()
	code, stdout, stderr := playWith(t, ctx, "-objects", "100000")
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if code != 130 || stdout != "" || !strings.HasSuffix(stderr, "quickstart: interrupted\n") {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// With -debug a page shows the storm, and stays until an interrupt, which is then no failure.
func TestThePageStaysUntilAnInterrupt(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o, err := parse([]string{"-objects", "50", "-debug", "127.0.0.1:0"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var out bytes.Buffer
	code := make(chan int, 1)
	go func() {
		defer writer.Close()
		code <- run(ctx, o, &out, writer)
	}()
	address, over := "", false
	for lines := bufio.NewScanner(reader); !over && lines.Scan(); {
		if at, ok := strings.CutPrefix(lines.Text(), "quickstart: the page is at "); ok {
			address = at
		}
		over = strings.HasPrefix(lines.Text(), "quickstart: the storm is over")
	}
	if !over {
		t.Fatalf("the program ends with %d", <-code)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var shown struct {
		Caches      []struct{ Objects, Relists any }
		Controllers []struct{ Name string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Caches) != 1 || len(shown.Controllers) != 1 || shown.Controllers[0].Name != "mirror" {
		t.Errorf("the page shows %+v", shown)
	}
	interrupt()
	if got := <-code; got != 0 || !strings.Contains(out.String(), " in sync, 0 wrong") {
		t.Errorf("exit status %d, stdout %q", got, out.String())
	}
}

func TestAnAddressThatCannotBeListenedOnIsAnError(t *testing.T) {
	code, stdout, stderr := playWith(t, t.Context(), "-debug", "256.0.0.1:0")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "256.0.0.1") {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestAServerThatIsNotThereGivesOneLine(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(`{
		"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
		"contexts": [{"name": "x", "context": {"cluster": "c"}}],
		"current-context": "x"
	}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := playWith(t, t.Context(), "-kubeconfig", config)
	if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("exit status %d, stdout %q, stderr %q; want 1 and one line that names the address", code, stdout, stderr)
	}
}

func TestSummary(t *testing.T) {
	s := &summary{Objects: 3, InSync: 1, Wrong: 2, problems: slices.Repeat([]string{"bad"}, 25)}
	var out bytes.Buffer
	if err := s.print(&out, false); err != nil || !strings.Contains(out.String(), "3: 1 in sync, 2 wrong, 0 orphaned") {
		t.Errorf("the summary is %q, %v", out.String(), err)
	}
	out.Reset()
	s.printProblems(&out)
	if lines := strings.Count(out.String(), "\n"); lines != 21 || !strings.Contains(out.String(), "and 5 more") {
		t.Errorf("25 problems are listed in %d lines: %q", lines, out.String())
	}
}
