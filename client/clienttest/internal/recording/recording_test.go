package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/meta"
)

const head = `{"recording":1,"server":"v1.37.2","cluster":"c1","start":"2026-01-02T03:04:05Z","resources":[` +
	`{"group":"","version":"v1","resource":"pods","kind":"Pod","namespaced":true},` +
	`{"group":"","version":"v1","resource":"nodes","kind":"Node","namespaced":false}],"secrets":"hashed"}`

func pod(name string, version int) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"a","name":%q,"uid":"u-%s","resourceVersion":"%d"}}`, name, name, version)
}

func node(version int) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"%d"}}`, version)
}

// lists are the first lists, both at version 5.
var lists = []string{
	`{"at":0,"type":"LISTED","resource":"pods","object":` + pod("a", 3) + `}`,
	`{"at":0,"type":"SYNCED","resource":"pods","resourceVersion":"5"}`,
	`{"at":0,"type":"SYNCED","resource":"nodes","resourceVersion":"5"}`,
}

func file(lines ...string) string { return strings.Join(append([]string{head}, lines...), "\n") + "\n" }

func after(lines ...string) string { return file(append(lists[:len(lists):len(lists)], lines...)...) }

func scan(text string) (*recording.Plan, error) {
	return recording.Scan(strings.NewReader(text), func(*recording.Header, *recording.Line, recording.Identity, bool) error { return nil })
}

func TestErrorsOfABadFileNameTheLineAndTheField(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"another file", "apiVersion: v1\n", "line 1: it is not the header of a recording"},
		{"a later format", strings.Replace(head, `"recording":1`, `"recording":2`, 1) + "\n", "line 1: it is not the header of a recording: recording must be 1"},
		{"a header without a time", strings.Replace(head, "2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", 1) + "\n", "start must be a time"},
		{"a resource twice", strings.Replace(head, `"nodes"`, `"pods"`, 1) + "\n", "resources[1] duplicates resources[0] (pods)"},
		{"a resource that is null", strings.Replace(head, `"resources":[`, `"resources":[null,`, 1) + "\n", "resources[0] must be an object"},
		{"a resource without a kind", strings.Replace(head, `"Node"`, `""`, 1) + "\n", "resources[1].kind"},
		{"other secrets", strings.Replace(head, `hashed`, `shown`, 1) + "\n", `secrets must be hashed, omitted or kept, got "shown"`},
		{"lists that end early", file(lists[:2]...), "the recording ends before its first lists are complete"},
		{"an unknown member", after(`{"at":1,"type":"END","color":"red"}`), `line 5: json: unknown field "color"`},
		{"an unknown type", after(`{"at":1,"type":"MOVED"}`), `line 5: type must be a type of line, such as ADDED, got "MOVED"`},
		{"a time that goes back", after(`{"at":1,"type":"RESUMED"}`, `{"at":0.5,"type":"END"}`), "line 6: at must not be less than that of the line before"},
		{"a negative time", after(`{"at":-1,"type":"END"}`), "line 5: at must be a number of seconds"},
		{"a time that is text", after(`{"at":"1s","type":"END"}`), "line 5: at must be a number of seconds"},
		{"a time with an exponent", after(`{"at":1e3,"type":"END"}`), "line 5: at must be a number of seconds"},
		{"another resource", after(`{"at":1,"type":"ADDED","resource":"jobs","object":{}}`), `line 5: resource must be one of the header, got "jobs"`},
		{"an event without an object", after(`{"at":1,"type":"ADDED","resource":"pods"}`), "line 5: object must be set on a line of type ADDED"},
		{"an object of another kind", after(`{"at":1,"type":"ADDED","resource":"pods","object":` + node(7) + `}`), `line 5: object must be a Pod of v1, as the header says of pods, got "Node" of "v1"`},
		{"an object without a name", after(`{"at":1,"type":"ADDED","resource":"pods","object":` + pod("", 7) + `}`), "line 5: object.metadata.name must not be empty"},
		{"a pod without a namespace", after(`{"at":1,"type":"ADDED","resource":"pods","object":` + strings.Replace(pod("b", 7), `"a"`, `""`, 1) + `}`), "line 5: object.metadata.namespace must be set"},
		{"a list without a version", file(`{"at":0,"type":"SYNCED","resource":"pods"}`), "line 2: resourceVersion must be set on a line of type SYNCED"},
		{"a namespace that is not recorded", after(`{"at":1,"type":"BOOKMARK","resource":"pods","namespace":"b","resourceVersion":"1"}`), "line 5: namespace must be one of the header"},
		{"a listed object after the lists", after(`{"at":1,"type":"LISTED","resource":"pods","object":` + pod("b", 7) + `}`), "line 5: type must not be LISTED after the first lists"},
		{"two objects on a line", after(`{"at":1,"type":"END"}{}`), "line 5: it must be one JSON object and nothing else"},
		{"an empty line", after(``), "line 5: it is empty"},
		{"a line that is no JSON", after(`{"at":1,`), "line 5: unexpected EOF"},
	} {
		if _, err := scan(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
		}
	}
}

func TestALineThatAKilledRecorderHasNotFinishedIsTheEnd(t *testing.T) {
	whole := after(`{"at":1,"type":"ADDED","resource":"pods","object":` + pod("b", 7) + `}`)
	for cut := len(after()); cut < len(whole)-1; cut++ {
		plan, err := scan(whole[:cut])
		if err != nil || len(plan.Changes) != 0 {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
	}
	if plan, err := scan(whole[:len(whole)-1]); err != nil || len(plan.Changes) != 1 {
		t.Errorf("a last line without a newline is lost: %v", err)
	}
}

func TestTimesKeepTheirNanoseconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "1.5": 1500 * time.Millisecond, "0.000000001": 1, "123456.789012345": 123456789012345, "4294967295": 4294967295 * time.Second,
	} {
		var o recording.Offset
		if err := json.Unmarshal([]byte(text), &o); err != nil || time.Duration(o) != want {
			t.Errorf("%s is %v, %v", text, time.Duration(o), err)
		}
		if b, err := json.Marshal(o); err != nil || string(b) != text {
			t.Errorf("%s is written as %s, %v", text, b, err)
		}
	}
	for _, text := range []string{"4294967296", "1.0000000001", "1.", ".5", "+1", "1.-5", "null"} {
		var o recording.Offset
		if err := o.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is a time", text)
		}
	}
}

func TestChangesOfOneCounterAreInTheOrderOfTheirVersions(t *testing.T) {
	at := func(seconds float64, kind, resource, object string) string {
		return fmt.Sprintf(`{"at":%v,"type":%q,"resource":%q,"object":%s}`, seconds, kind, resource, object)
	}
	plan, err := scan(after(
		at(1, "ADDED", "nodes", node(7)),
		at(1.1, "ADDED", "pods", pod("b", 6)), // its watch was slower
		`{"at":9,"type":"GAP","resource":"pods","resourceVersion":"6"}`,
		`{"at":9,"type":"ADDED","gap":true,"resource":"pods","object":`+pod("d", 12)+`}`,
		`{"at":9,"type":"MODIFIED","gap":true,"resource":"pods","object":`+pod("b", 9)+`}`,
		`{"at":9,"type":"DELETED","gap":true,"resource":"pods","resourceVersion":"13","object":`+pod("a", 0)+`}`,
		`{"at":9,"type":"SYNCED","resource":"pods","resourceVersion":"13"}`,
		at(10, "MODIFIED", "nodes", node(14)),
		// The server is set back: from here on the order of the file counts.
		`{"at":20,"type":"GAP","resource":"nodes","resourceVersion":"14"}`,
		`{"at":20,"type":"MODIFIED","gap":true,"resource":"nodes","object":`+node(8)+`}`,
		`{"at":20,"type":"SYNCED","resource":"nodes","resourceVersion":"8"}`,
		at(21, "MODIFIED", "nodes", node(9)),
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range plan.Changes {
		got = append(got, fmt.Sprintf("%d at %v", c.Version, time.Duration(c.At)))
	}
	want := "6 at 1s, 7 at 1s, 9 at 9s, 12 at 9s, 13 at 9s, 14 at 10s, 8 at 20s, 9 at 21s"
	if strings.Join(got, ", ") != want {
		t.Errorf("the order is %s, want %s", strings.Join(got, ", "), want)
	}
	if plan.Version != 5 {
		t.Errorf("the first lists are at %d, want 5", plan.Version)
	}
}

func TestChangesOfAnotherCounterStayInTheOrderOfTheFile(t *testing.T) {
	text := strings.Replace(after(
		`{"at":1,"type":"ADDED","resource":"pods","object":`+pod("b", 6)+`}`,
		`{"at":2,"type":"ADDED","resource":"nodes","object":`+node(901)+`}`,
		`{"at":3,"type":"ADDED","resource":"pods","object":`+pod("c", 7)+`}`,
	), `"resource":"nodes","resourceVersion":"5"`, `"resource":"nodes","resourceVersion":"900"`, 1)
	plan, err := scan(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{6, 0, 7} {
		if c := plan.Changes[i]; c.Version != want || time.Duration(c.At) != time.Duration(i+1)*time.Second {
			t.Errorf("change %d has version %d at %v, want %d", i, c.Version, time.Duration(c.At), want)
		}
	}
}

// header is that of the text head.
func header(t *testing.T) *recording.Header {
	t.Helper()
	in, err := recording.NewReader(strings.NewReader(head + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return in.Header
}

func TestAFileGoesOnAfterAKillAtAnyByte(t *testing.T) {
	whole := after(
		`{"at":1,"type":"ADDED","resource":"pods","object":`+pod("b", 7)+`}`,
		`{"at":2,"type":"BOOKMARK","resource":"pods","resourceVersion":"8"}`,
		`{"at":3,"type":"DELETED","resource":"pods","object":`+pod("a", 9)+`}`,
		`{"at":4,"type":"GAP","resource":"pods","resourceVersion":"9"}`,
		`{"at":4,"type":"SYNCED","resource":"pods","resourceVersion":"12"}`,
	)
	pods := recording.Stream{Resource: "pods"}
	path := filepath.Join(t.TempDir(), "f.jsonl")
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := recording.Open(path, header(t), 1<<20)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		lines := strings.Count(whole[:cut], "\n")
		version := []string{"", "", "", "", "5", "7", "8", "9", "", "12"}[lines]
		if got := f.Known[pods]; got.Version != version || got.Begun() != (lines >= 4) {
			t.Fatalf("cut at byte %d: it goes on at %q, want %q", cut, got.Version, version)
		}
		if err := f.Close("done"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines >= 4 {
			if kept := whole[:strings.LastIndexByte(whole[:cut], '\n')+1]; !strings.HasPrefix(string(text), kept) {
				t.Fatalf("cut at byte %d: a line was lost", cut)
			}
			if _, err := scan(string(text)); err != nil {
				t.Fatalf("cut at byte %d: %v\n%s", cut, err, text)
			}
		} else if got := bytes.Count(text, []byte("\n")); got != 2 { // the header and END
			t.Fatalf("cut at byte %d: it has %d lines and should begin again", cut, got)
		}
	}
}

func TestAFileThatIsNotThisRecordingIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		change           func(*recording.Header)
	}{
		{"another file", "precious\n", "line 1: it is not the header of a recording", nil},
		{"another file without a newline", "precious", "line 1: it is not the header of a recording", nil},
		{"another cluster", after(), "it is a recording of another cluster", func(h *recording.Header) { h.Cluster = "c2" }},
		{"an unknown cluster", after(), "nothing says that the server is the same", func(h *recording.Header) { h.Cluster = "" }},
		{"other secrets", after(), "it has its secrets hashed, and this recording would have them kept", func(h *recording.Header) { h.Secrets = "kept" }},
		{"other namespaces", after(), "it has the namespaces", func(h *recording.Header) { h.Namespaces = []string{"a"} }},
		{"other resources", after(), "it has the resources", func(h *recording.Header) { h.Resources = h.Resources[:1] }},
		{"a bad line", after("nonsense", `{"at":1,"type":"END"}`), "line 5: ", nil},
		{"a file that is full", after(), "bytes already, and the limit is", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			h, limit := header(t), int64(1<<20)
			if c.change != nil {
				c.change(h)
			}
			if c.name == "a file that is full" {
				limit = int64(len(c.text))
			}
			if _, err := recording.Open(path, h, limit); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != c.text {
				t.Errorf("the file has changed to %q, %v", now, err)
			}
		})
	}
}

func TestAFullFileEndsWithALineThatSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	h := header(t)
	h.Start = time.Now()
	const limit = 5000
	f, err := recording.Open(path, h, limit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err = f.Write(&recording.Line{Type: recording.Added, Resource: "pods", Object: json.RawMessage(pod("a", i))}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "limit of 5000 bytes") {
		t.Errorf("the error is %v", err)
	}
	if again := f.Write(&recording.Line{Type: recording.Resumed}); again == nil || again.Error() != err.Error() {
		t.Errorf("a later write returns %v", again)
	}
	if err := f.Close("done"); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) > limit {
		t.Fatalf("it has %d bytes, %v", len(text), err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"type":"END"`) || !strings.Contains(last, "limit of 5000 bytes") {
		t.Errorf("the last line is %s", last)
	}
}

func TestTwoWritersOfOneFileAreAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	h := header(t)
	f, err := recording.Open(path, h, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close("") }()
	if err := os.WriteFile(path, []byte(after()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(&recording.Line{Type: recording.Resumed}); err == nil || !strings.Contains(err.Error(), "another program writes into the file") {
		t.Errorf("the error is %v", err)
	}
}

func TestAListSaysWhatHasChangedSinceTheLastOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(after(
		`{"at":1,"type":"ADDED","resource":"pods","object":`+pod("b", 7)+`}`,
		`{"at":1,"type":"ADDED","resource":"pods","object":`+pod("c", 8)+`}`,
		`{"at":1,"type":"ADDED","resource":"pods","object":`+pod("d", 9)+`}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := recording.Open(path, header(t), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close("") }()
	k := f.Known[recording.Stream{Resource: "pods"}]
	id := func(name, uid, version string) recording.Identity {
		return recording.Identity{Key: meta.Key{Namespace: "a", Name: name}, UID: uid, ResourceVersion: version}
	}
	k.BeginList()
	if k.Version != "" {
		t.Errorf("a watch would go on at %q within a list", k.Version)
	}
	for _, c := range []struct {
		id   recording.Identity
		how  recording.Type
		gone string
	}{
		{id("b", "u-b", "7"), "", ""},
		{id("c", "u-c", "10"), recording.Modified, ""},
		{id("d", "u-new", "11"), recording.Added, "u-d"},
		{id("e", "u-e", "12"), recording.Added, ""},
	} {
		if how, gone := k.Changed(c.id); how != c.how || gone != c.gone {
			t.Errorf("%s is %q %q, want %q %q", c.id.Name, how, gone, c.how, c.gone)
		}
	}
	if gone := k.Gone(); len(gone) != 1 || gone[0].Name != "a" || gone[0].UID != "u-a" {
		t.Errorf("gone are %v, want a", gone)
	}
	k.EndList("13")
	if k.Version != "13" {
		t.Errorf("a watch goes on at %q, want 13", k.Version)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(after(`{"at":1.5,"type":"DELETED","gap":true,"resource":"pods","resourceVersion":"9","object":` + pod("a", 7) + `}`)))
	f.Add([]byte(after(`{"at":1,"type":"GAP","resource":"nodes"}`, `{"at":2,"type":"SYNCED","resource":"nodes","resourceVersion":"1"}`)))
	f.Add([]byte(head[:20]))
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := recording.Scan(bytes.NewReader(text), func(h *recording.Header, l *recording.Line, id recording.Identity, _ bool) error {
			if h.Resource(l.Resource) == nil || id.Name == "" || len(l.Object) == 0 {
				t.Error("a line is without its object")
			}
			return nil
		})
		if (plan == nil) == (err == nil) {
			t.Fatalf("a plan of %v and the error %v", plan, err)
		}
		if err != nil {
			return
		}
		for _, c := range plan.Changes {
			if l, err := recording.ReadChange(bytes.NewReader(text), c); err != nil || len(l.Object) == 0 {
				t.Errorf("a change of the plan is not in the file: %v", err)
			}
		}
	})
}

func TestAFileThatHasChangedIsAnError(t *testing.T) {
	text := after(`{"at":1,"type":"ADDED","resource":"pods","object":` + pod("b", 7) + `}`)
	plan, err := scan(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []string{"", text[:len(text)-5], strings.Replace(text, `{"at":1,`, `["at":1,`, 1)} {
		if _, err := recording.ReadChange(strings.NewReader(now), plan.Changes[0]); err == nil || !strings.Contains(err.Error(), "the file has changed") {
			t.Errorf("the error is %v", err)
		}
	}
}
