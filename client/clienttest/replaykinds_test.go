package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestARecorderGoesOnAfterAKillAtAnyByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 3))
		folder := t.TempDir()
		server := clienttest.Start(t, pageResource())
		c := newClient(t, server)
		o := clienttest.RecordOptions{File: filepath.Join(folder, "first"), Resources: stormedResources(), Secrets: clienttest.SecretsKept}
		storm(t, c, random, 30)
		end := startRecord(t, server, o)
		time.Sleep(time.Second)
		storm(t, c, random, 60)
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(o.File)
		if err != nil {
			t.Fatal(err)
		}
		storm(t, c, random, 20) // while nobody records
		var cuts []int
		for i := range 40 {
			cut := random.IntN(len(whole) + 1)
			if i == 20 {
				server.Compact() // from here on there are gaps
			}
			o.File = filepath.Join(folder, fmt.Sprint(i))
			if err := os.WriteFile(o.File, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			end := startRecord(t, server, o)
			time.Sleep(5 * time.Second)
			if err := end(); err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
			cuts = append(cuts, cut)
		}
		want := withoutVersions(caches(t, server))
		for i, cut := range cuts { // a replay takes as long as its recording
			copied := clienttest.Start(t, clienttest.Options{Replay: filepath.Join(folder, fmt.Sprint(i))})
			if err := copied.WaitReplayed(t.Context()); err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
			for _, d := range differences(want, withoutVersions(caches(t, copied))) {
				t.Errorf("cut at byte %d: %s", cut, d)
			}
		}
	})
}

func TestARecordingOfAnotherClusterIsNotContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := clienttest.RecordOptions{File: filepath.Join(t.TempDir(), "f"), Resources: []meta.GVR{coreV1("pods")}}
		for i, want := range []string{"", "it is a recording of another cluster"} {
			end := startRecord(t, clienttest.Start(t, clienttest.Options{}), o)
			synctest.Wait()
			if err := end(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("server %d: the error is %v, want %q", i, err, want)
			}
		}
	})
}

func TestAReplayOfAServerThatWasRestoredGoesBackToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "f")
		server := clienttest.Start(t, clienttest.Options{})
		c := newClient(t, server)
		maps := things(c, coreV1("configmaps"), "ConfigMap")
		make := func(names ...string) {
			for _, name := range names {
				if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", name, nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("configmaps"), coreV1("secrets")}})
		time.Sleep(time.Second)
		make("a", "b")
		version := server.ResourceVersion()
		make("c", "d", "e", "f", "g")
		time.Sleep(time.Second)
		if err := server.Rollback(version); err != nil {
			t.Fatal(err)
		}
		make("h")
		time.Sleep(5 * time.Minute)
		make("i")
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		copied := clienttest.Start(t, clienttest.Options{Replay: file})
		if err := copied.WaitReplayed(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := things(newClient(t, copied), coreV1("configmaps"), "ConfigMap").List(t.Context(), client.ListOptions{})
		names := ""
		for _, o := range list.Items {
			names += o.GetName()
		}
		if err != nil || names != "abhi" {
			t.Errorf("the replay has %s, want abhi, %v", names, err)
		}
	})
}

const pageDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"pages.example.com"},"spec":{
"group":"example.com","scope":"Namespaced","names":{"plural":"pages","kind":"Page","listKind":"PageList","singular":"page","shortNames":["pg"]},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":9}}}}}}}]}}`

// recordPages records a server with a definition of pages, its objects and then the deletion of both.
func recordPages(t *testing.T, resources ...meta.GVR) (file string) {
	t.Helper()
	folder := t.TempDir()
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{write(t, "pages.json", pageDefinition)}})
	c := newClient(t, server)
	pages := things(c, stormed["Page"], "Page")
	page := func(name string) *meta.Unstructured {
		o := thing("example.com/v1", "Page", name, map[string]any{"spec": map[string]any{"size": 3}})
		o.SetNamespace("shop")
		return o
	}
	ns := &meta.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}}
	if _, err := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}).Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	if _, err := pages.Create(t.Context(), page("before")); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(folder, "f.jsonl")
	end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: resources})
	time.Sleep(time.Second)
	if _, err := pages.Create(t.Context(), page("after")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	if err := server.Unregister(stormed["Page"]); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if err := end(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAReplayServesCustomResourcesByTheirDefinitionsOrElseByTheHeader(t *testing.T) {
	definitions := meta.GVR{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for _, defined := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			resources := []meta.GVR{stormed["Page"]}
			if defined {
				resources = append(resources, definitions)
			}
			server := clienttest.Start(t, clienttest.Options{Replay: recordPages(t, resources...)})
			pages := things(newClient(t, server), stormed["Page"], "Page")
			time.Sleep(30 * time.Second)
			list, err := pages.List(t.Context(), client.ListOptions{Namespace: "shop"})
			if err != nil || len(list.Items) != 2 {
				t.Errorf("defined %v: there are %d pages, %v", defined, len(list.Items), err)
			}
			large := thing("example.com/v1", "Page", "large", map[string]any{"spec": map[string]any{"size": 10}})
			large.SetNamespace("shop") // the server has made it
			if _, err := pages.Create(t.Context(), large); (err != nil) != defined {
				t.Errorf("defined %v: the schema of the definition: %v", defined, err)
			}
			if err := server.WaitReplayed(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err = pages.List(t.Context(), client.ListOptions{})
			if (err != nil) != defined {
				t.Errorf("defined %v: after the deletion of the definition a list returns %v", defined, err)
			}
		})
	}
}

// handMade returns a recording with these lines after the first lists, of which only that of config maps has objects.
func handMade(t *testing.T, lines ...string) (file string) {
	t.Helper()
	text := append([]string{
		`{"recording":1,"server":"","cluster":"","start":"2026-01-02T03:04:05Z","resources":[{"group":"","version":"v1",` +
			`"resource":"configmaps","kind":"ConfigMap","namespaced":true}],"secrets":"kept"}`,
		`{"at":0,"type":"LISTED","resource":"configmaps","object":` + recordedMap("a", 900, "one") + `}`,
		`{"at":0,"type":"SYNCED","resource":"configmaps","resourceVersion":"1000"}`,
	}, lines...)
	return write(t, "hand.jsonl", strings.Join(text, "\n")+"\n")
}

func recordedMap(name string, version int, text string) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":%q,"uid":"uid-%s","resourceVersion":"%d",`+
		`"creationTimestamp":"2020-01-01T00:00:00Z"},"data":{"text":%q},"future":{"member":[1.50]}}`, name, name, version, text)
}

func recordedEvent(at float64, kind, object string) string {
	return fmt.Sprintf(`{"at":%v,"type":%q,"resource":"configmaps","object":%s}`, at, kind, object)
}

func TestARecordedObjectIsStoredAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replay: handMade(t)})
		got, err := things(newClient(t, server), coreV1("configmaps"), "ConfigMap").Get(t.Context(), meta.Key{Namespace: "shop", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := got.MarshalJSON()
		const want = `{"apiVersion":"v1","data":{"text":"one"},"future":{"member":[1.5]},"kind":"ConfigMap","metadata":{"creationTimestamp":` +
			`"2020-01-01T00:00:00Z","name":"a","namespace":"shop","resourceVersion":"900","uid":"uid-a"}}`
		if string(text) != want || server.ResourceVersion() != "1000" {
			t.Errorf("the object is %s, want %s, at version %s", text, want, server.ResourceVersion())
		}
		if err := server.WaitReplayed(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAChangeOfTheRecordingReplacesWhatAClientHasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replay: handMade(t,
			recordedEvent(10, "MODIFIED", recordedMap("a", 1001, "two")),
			recordedEvent(20, "MODIFIED", recordedMap("a", 1050, "three")),
			recordedEvent(30, "DELETED", recordedMap("a", 1051, "three")),
			recordedEvent(40, "ADDED", recordedMap("b", 1052, "one")),
		)})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		key := meta.Key{Namespace: "shop", Name: "a"}
		text := func() string {
			o, err := maps.Get(t.Context(), key)
			if err != nil {
				return "none"
			}
			return o.Object["data"].(map[string]any)["text"].(string) + " " + o.GetResourceVersion()
		}
		set := func(to string) {
			t.Helper()
			if _, err := maps.Modify(t.Context(), key, func(o *meta.Unstructured) error {
				o.Object["data"].(map[string]any)["text"] = to
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		set("mine")
		if got := text(); got != "mine 1001" {
			t.Errorf("the client's write is %s", got)
		}
		time.Sleep(10 * time.Second)
		if got := text(); got != "two 1002" { // its own version is taken
			t.Errorf("after the first change it is %s", got)
		}
		if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if got := text(); got != "three 1050" {
			t.Errorf("after the second change it is %s", got)
		}
		if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := server.WaitReplayed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := text(); got != "none" || server.ResourceVersion() != "1052" {
			t.Errorf("at the end it is %s, at version %s", got, server.ResourceVersion())
		}
	})
}

func TestAnObjectInANamespaceThatIsNotRecordedGetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replay: handMade(t, recordedEvent(10, "ADDED", strings.Replace(recordedMap("b", 1001, "x"), "shop", "late", 1)))})
		namespaces := client.For(newClient(t, server), client.Type[*meta.Unstructured]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
		for _, name := range []string{"shop", "late"} {
			if err := server.WaitReplayed(t.Context()); err != nil {
				t.Fatal(err)
			}
			ns, err := namespaces.Get(t.Context(), meta.Key{Name: name})
			if err != nil || ns.GetUID() == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestChangesOverAGapAreOneStep(t *testing.T) {
	gap := func(line string) string { return strings.Replace(line, `"resource"`, `"gap":true,"resource"`, 1) }
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replay: handMade(t,
			`{"at":10,"type":"GAP","resource":"configmaps","resourceVersion":"1000","message":"too old"}`,
			gap(recordedEvent(10, "ADDED", recordedMap("b", 1002, "x"))), gap(recordedEvent(10, "ADDED", recordedMap("c", 1003, "x"))),
			`{"at":10,"type":"DELETED","gap":true,"resource":"configmaps","resourceVersion":"1005","object":{"kind":"ConfigMap","apiVersion":"v1",`+
				`"metadata":{"namespace":"shop","name":"a","uid":"uid-a"}}}`,
			`{"at":10,"type":"SYNCED","resource":"configmaps","resourceVersion":"1005"}`,
		)})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		var got []string
		for e, err := range maps.Watch(t.Context(), client.WatchOptions{ResourceVersion: "1000"}) {
			if err != nil {
				t.Fatal(err)
			}
			list, err := maps.List(t.Context(), client.ListOptions{})
			if err != nil || len(list.Items) != 2 || list.ResourceVersion != "1005" {
				t.Errorf("within the gap a list has %d objects at %s, %v", len(list.Items), list.ResourceVersion, err)
			}
			if got = append(got, fmt.Sprint(e.Type, " ", e.Identity.Name, " ", e.Identity.ResourceVersion)); len(got) == 3 {
				break
			}
		}
		if want := "ADDED b 1002, ADDED c 1003, DELETED a 1005"; strings.Join(got, ", ") != want {
			t.Errorf("a watch sees %s, want %s", strings.Join(got, ", "), want)
		}
	})
}

func TestARecordingThatCannotBePlayedIsAnErrorAtTheStart(t *testing.T) {
	other := strings.NewReplacer(`"version":"v1","resource"`, `"version":"v2","resource"`, `"apiVersion":"v1"`, `"apiVersion":"v2"`)
	cluster := strings.NewReplacer(`"namespaced":true`, `"namespaced":false`, `"namespace":"shop",`, ``)
	rules := strings.NewReplacer("\n", "", `"type":"integer"`, `"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]`,
		`"spec":{`, `"status":{"conditions":[{"type":"Established","status":"True"}],"acceptedNames":{"plural":"pages","kind":"Page"}},"spec":{`)
	for _, c := range []struct{ name, file, want string }{
		{"no file", filepath.Join(t.TempDir(), "none"), "none"},
		{"an empty file", write(t, "empty", ""), "it is empty"},
		{"a bad line", handMade(t, recordedEvent(1, "MOVED", "{}")), "line 4: type must be"},
		{"a bad object", handMade(t, recordedEvent(1, "ADDED", strings.Replace(recordedMap("b", 7, ""), `"2020-01-01T00:00:00Z"`, "7", 1))), "line 4: object: "},
		{"another version of a built-in kind", changeFile(t, handMade(t), other), "it is built in"},
		{"another scope", changeFile(t, handMade(t), cluster), "namespaced: false"},
		{"a definition with rules", write(t, "rules", `{"recording":1,"server":"","cluster":"","start":"2026-01-02T03:04:05Z","resources":[{"group":"apiextensions.k8s.io",`+
			`"version":"v1","resource":"customresourcedefinitions","kind":"CustomResourceDefinition","namespaced":false}],"secrets":"kept"}`+"\n"+
			`{"at":0,"type":"LISTED","resource":"customresourcedefinitions.apiextensions.k8s.io","object":`+rules.Replace(pageDefinition)+"}\n"), "line 2: object: pages.example.com: "},
	} {
		server := clienttest.New(clienttest.Options{Replay: c.file})
		for _, err := range []error{server.Run(t.Context()), server.WaitReplayed(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "clienttest.Options: Replay: "+c.file) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
			}
		}
	}
}

func changeFile(t *testing.T, file string, by *strings.Replacer) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "changed.jsonl", by.Replace(string(text)))
}

func TestAWaitForTheEndOfAReplayEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := clienttest.Start(t, clienttest.Options{}).WaitReplayed(t.Context()); err == nil || !strings.Contains(err.Error(), "Options.Replay is not set") {
			t.Errorf("without a recording the error is %v", err)
		}
		file := handMade(t, recordedEvent(3600, "ADDED", recordedMap("b", 1001, "x")))
		server := clienttest.Start(t, clienttest.Options{Replay: file})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := server.WaitReplayed(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a short context the error is %v", err)
		}
		short := clienttest.New(clienttest.Options{Replay: file})
		running, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if err := short.Run(running); err != nil {
			t.Errorf("Run returns %v", err)
		}
		if err := short.WaitReplayed(t.Context()); err == nil || !strings.Contains(err.Error(), "the server has ended before the last change") {
			t.Errorf("after the end of the server the error is %v", err)
		}
	})
}

func TestAFileThatChangesDuringItsReplayIsAnErrorOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := handMade(t, recordedEvent(10, "ADDED", recordedMap("b", 1001, "x")))
		server := clienttest.New(clienttest.Options{Replay: file})
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		for _, err := range []error{server.Run(ctx), server.WaitReplayed(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "the file has changed") {
				t.Errorf("the error is %v", err)
			}
		}
	})
}
