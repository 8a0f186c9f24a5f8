package clienttest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// things returns a handle of whole objects.
func things(c *client.Client, gvr meta.GVR, kind string) client.Resource[*meta.Unstructured] {
	return client.For(c, client.Type[*meta.Unstructured]{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Kind: kind})
}

func coreV1(resource string) meta.GVR { return meta.GVR{Version: "v1", Resource: resource} }

// thing returns an object with members beside metadata.
func thing(apiVersion, kind, name string, more map[string]any) *meta.Unstructured {
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name}}
	for k, v := range more {
		o[k] = v
	}
	return &meta.Unstructured{Object: o}
}

func newClient(t *testing.T, server *clienttest.Server) *client.Client {
	t.Helper()
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// startRecord records until end is called, which returns Record's error.
func startRecord(t *testing.T, server *clienttest.Server, o clienttest.RecordOptions) (end func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	config := server.Config()
	config.UserAgent = "recorder"
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	go func() { done <- clienttest.Record(ctx, c, o) }()
	return func() error {
		stop()
		return <-done
	}
}

// recordingLine is a line of a file.
type recordingLine struct {
	At              float64
	Type            string
	Resource        string
	Gap             bool
	ResourceVersion string
	Message         string
	Object          *meta.Unstructured
}

// linesOf returns the lines of a file after the first.
func linesOf(t *testing.T, file string) (all []recordingLine) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		var l recordingLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

func TestARecordingHasTheListsAndThenTheEventsWithTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "bug.jsonl")
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "before", nil)); err != nil {
			t.Fatal(err)
		}
		end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("configmaps"), coreV1("namespaces")}})
		time.Sleep(1500 * time.Millisecond)
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "after", nil)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := maps.Delete(t.Context(), meta.Key{Namespace: "default", Name: "before"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range linesOf(t, file) {
			name := ""
			if l.Object != nil {
				name = l.Object.GetName()
			}
			got = append(got, fmt.Sprintf("%v %s %s %s", l.At, l.Type, l.Resource, name))
		}
		want := []string{
			"0 LISTED configmaps before", "0 SYNCED configmaps ",
			"0 LISTED namespaces default", "0 LISTED namespaces kube-node-lease", "0 LISTED namespaces kube-public", "0 LISTED namespaces kube-system",
			"0 SYNCED namespaces ", "1.5 ADDED configmaps after", "3.5 DELETED configmaps before", "3.5 END  ",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the file has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestRecordOptionsSayWhatIsWrong(t *testing.T) {
	pods := coreV1("pods")
	for _, c := range []struct {
		o    clienttest.RecordOptions
		want string
	}{
		{clienttest.RecordOptions{Resources: []meta.GVR{pods}}, "File must be set"},
		{clienttest.RecordOptions{File: "f"}, "Resources must not be empty"},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{{Resource: "pods"}}}, "Resources[0].Version must not be empty"},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{{Version: "v1", Resource: "a/b"}}}, "Resources[0].Resource"},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{{Group: "..", Version: "v1", Resource: "a"}}}, "Resources[0].Group"},
		{
			clienttest.RecordOptions{File: "f", Resources: []meta.GVR{{Group: "a", Version: "v1", Resource: "b"}, {Group: "a", Version: "v2", Resource: "b"}}},
			"Resources[1] has the objects of Resources[0]",
		},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{pods}, Namespaces: []string{"a", "a"}}, `Namespaces[1] duplicates Namespaces[0] ("a")`},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{pods}, Namespaces: []string{""}}, "Namespaces[0]"},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{pods}, MaxBytes: -1}, "MaxBytes must not be negative, got -1"},
		{clienttest.RecordOptions{File: "f", Resources: []meta.GVR{pods}, Secrets: 3}, "Secrets must be SecretsHashed, SecretsOmitted or SecretsKept, got 3"},
	} {
		if err := clienttest.Record(t.Context(), nil, c.o); err == nil || !strings.Contains(err.Error(), "clienttest.RecordOptions: "+c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

func TestRecordFailsBeforeItWritesIfItCannotReadAResource(t *testing.T) {
	forbidden := func(a clienttest.Access) (bool, string) {
		return a.Resource.Resource != "secrets" || a.Verb != "list" || a.Key.Namespace == "open", "no secrets for you"
	}
	for _, c := range []struct {
		name string
		o    clienttest.RecordOptions
		want string
	}{
		{"not served", clienttest.RecordOptions{Resources: []meta.GVR{coreV1("nothings")}}, "the server does not serve nothings"},
		{"an unknown group", clienttest.RecordOptions{Resources: []meta.GVR{{Group: "a.com", Version: "v1", Resource: "b"}}}, "find b.a.com/v1"},
		{"no watch", clienttest.RecordOptions{Resources: []meta.GVR{coreV1("componentstatuses")}}, "the server has no verb watch for it"},
		{"forbidden", clienttest.RecordOptions{Resources: []meta.GVR{coreV1("pods"), coreV1("secrets")}}, "no secrets for you"},
		{"forbidden in a namespace", clienttest.RecordOptions{
			Resources: []meta.GVR{coreV1("secrets")}, Namespaces: []string{"open", "closed"},
		}, `"closed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{Authorize: forbidden})
				c.o.File = filepath.Join(t.TempDir(), "f")
				err := clienttest.Record(t.Context(), newClient(t, server), c.o)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.o.File) {
					t.Errorf("the error is %v, want %q", err, c.want)
				}
				if _, err := os.Stat(c.o.File); err == nil {
					t.Error("the file exists")
				}
			})
		})
	}
}

func TestARecorderThatMayListAndNotWatchEndsWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Verb != "watch", "" }})
		file := filepath.Join(t.TempDir(), "f")
		err := clienttest.Record(t.Context(), newClient(t, server), clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("pods"), coreV1("nodes")}})
		if err == nil || !strings.Contains(err.Error(), "watch") || !strings.Contains(err.Error(), "Forbidden") {
			t.Errorf("the error is %v", err)
		}
		if lines := linesOf(t, file); lines[len(lines)-1].Type != "END" || !strings.Contains(lines[len(lines)-1].Message, "Forbidden") {
			t.Errorf("the last line is %+v", lines[len(lines)-1])
		}
	})
}

func TestARecorderWhosePermissionIsWithdrawnSaysSoAndGoesOnAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		file := filepath.Join(t.TempDir(), "f")
		end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("configmaps")}})
		time.Sleep(time.Minute)
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			if strings.Contains(r.UserAgent(), "recorder") {
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "not any more"})
			}
			return nil
		})
		server.DropWatches()
		time.Sleep(time.Hour)
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "a", nil)); err != nil {
			t.Fatal(err)
		}
		server.Intercept(nil)
		time.Sleep(time.Minute)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range linesOf(t, file) {
			if l.Type == "BOOKMARK" {
				continue
			}
			got = append(got, l.Type)
			if l.Type == "CUT" && len(got) == 3 && !strings.Contains(l.Message, "not any more") {
				t.Errorf("the reason is %q", l.Message)
			}
		}
		text := strings.Join(got, " ")
		if !strings.HasPrefix(text, "SYNCED CUT ") || !strings.HasSuffix(text, " ADDED END") || strings.Count(text, "CUT") > 2 {
			t.Errorf("the file has %s", text)
		}
	})
}

func TestNoByteOfASecretIsInARecording(t *testing.T) {
	for _, mode := range []clienttest.RecordedSecrets{clienttest.SecretsHashed, clienttest.SecretsOmitted, clienttest.SecretsKept} {
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{})
			secrets := things(newClient(t, server), coreV1("secrets"), "Secret")
			file := filepath.Join(t.TempDir(), "f")
			n := 0
			value := func() (plain, encoded string) {
				n++
				plain = fmt.Sprintf("hunter-%d-of-secrets", n)
				return plain, base64.StdEncoding.EncodeToString([]byte(plain))
			}
			write := func(name string) {
				plain, encoded := value()
				o := thing("v1", "Secret", name, map[string]any{"data": map[string]any{"p": encoded}})
				o.Object["metadata"].(map[string]any)["annotations"] = map[string]any{
					"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"p":"` + plain + `"}}`, "copy": plain,
				}
				if _, _, err := secrets.Ensure(t.Context(), o, client.EnsureOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			write("a")
			end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("secrets")}, Secrets: mode})
			time.Sleep(time.Second)
			write("a")
			write("b")
			synctest.Wait()
			server.DropWatches()
			write("a") // in the gap
			write("c")
			server.Compact()
			time.Sleep(time.Minute)
			for _, name := range []string{"a", "b", "c"} {
				if err := secrets.Delete(t.Context(), meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if err := end(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			shown := strings.Contains(string(text), "hunter-") || strings.Contains(string(text), "aHVudGVy")
			if shown != (mode == clienttest.SecretsKept) {
				t.Errorf("%v: a value is in the file: %v", mode, shown)
			}
			if hashed := strings.Contains(string(text), "sha256:"); hashed != (mode == clienttest.SecretsHashed) {
				t.Errorf("%v: a hash is in the file: %v", mode, hashed)
			}
			for _, want := range []string{`"GAP"`, `"DELETED"`, `"MODIFIED"`, `"secrets":"` + mode.String() + `"`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%v: the file is without %s", mode, want)
				}
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("others may read the file: %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestChangeSeesEachObjectBeforeItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		private := map[string]any{"data": map[string]any{"dsn": "user:password@db"}}
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "a", private)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "f")
		end := startRecord(t, server, clienttest.RecordOptions{
			File: file, Resources: []meta.GVR{coreV1("configmaps")}, Change: func(o *meta.Unstructured) {
				if data, ok := o.Object["data"].(map[string]any); ok {
					data["dsn"] = "removed"
				}
			},
		})
		synctest.Wait()
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "b", private)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "password") || strings.Count(string(text), `"dsn":"removed"`) != 2 {
			t.Errorf("the file has %s, %v", text, err)
		}
	})
}

func TestChangeMustKeepTheIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		err := clienttest.Record(t.Context(), newClient(t, server), clienttest.RecordOptions{
			File: filepath.Join(t.TempDir(), "f"), Resources: []meta.GVR{coreV1("namespaces")},
			Change: func(o *meta.Unstructured) { o.SetName("x") },
		})
		if err == nil || !strings.Contains(err.Error(), "Change must not change the identity of an object") || !strings.Contains(err.Error(), "default") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestAFullRecordingIsAnErrorAndCanBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		file := filepath.Join(t.TempDir(), "f")
		ended := make(chan error, 1)
		go func() {
			ended <- clienttest.Record(t.Context(), newClient(t, server), clienttest.RecordOptions{
				File: file, Resources: []meta.GVR{coreV1("configmaps"), coreV1("pods")}, MaxBytes: 8000,
			})
		}()
		time.Sleep(time.Second)
		for i := range 30 {
			if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", fmt.Sprint("a", i), nil)); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "limit of 8000 bytes") {
			t.Errorf("the error is %v", err)
		}
		lines := linesOf(t, file)
		if last := lines[len(lines)-1]; last.Type != "END" || !strings.Contains(last.Message, "limit of 8000 bytes") {
			t.Errorf("the last line is %+v", last)
		}
		if info, err := os.Stat(file); err != nil || info.Size() > 8000 {
			t.Errorf("the file has %d bytes, %v", info.Size(), err)
		}
		copied := clienttest.Start(t, clienttest.Options{Replay: file})
		if err := copied.WaitReplayed(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestARecorderOfAServerThatIsDownIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c := newClient(t, server)
		server.Refuse(errors.New("connection refused"))
		err := clienttest.Record(t.Context(), c, clienttest.RecordOptions{File: filepath.Join(t.TempDir(), "f"), Resources: []meta.GVR{coreV1("pods")}})
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestARecordingThatEndsBeforeItsFirstListsIsAnError(t *testing.T) {
	for name, stall := range map[string]func(r *http.Request) bool{
		"at once":          func(*http.Request) bool { return true },
		"within the lists": func(r *http.Request) bool { return r.URL.Query().Get("limit") == "500" },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			server := clienttest.Start(t, clienttest.Options{})
			server.Intercept(func(r *http.Request) http.HandlerFunc {
				if stall(r) {
					return clienttest.Hang()
				}
				return nil
			})
			file := filepath.Join(t.TempDir(), "f")
			err := clienttest.Record(ctx, newClient(t, server), clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("pods")}})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the error is %v", name, err)
			}
		})
	}
}

func TestARecordingOfANamespaceHasNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		file := filepath.Join(t.TempDir(), "f")
		end := startRecord(t, server, clienttest.RecordOptions{
			File: file, Resources: []meta.GVR{coreV1("configmaps"), coreV1("namespaces")}, Namespaces: []string{"kube-public", "default"},
		})
		time.Sleep(time.Second)
		for _, ns := range []string{"default", "kube-system", "kube-public"} {
			o := thing("v1", "ConfigMap", "a", nil)
			o.SetNamespace(ns)
			if _, err := maps.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range linesOf(t, file) {
			if l.Resource == "configmaps" && l.Object != nil {
				got = append(got, l.Object.GetNamespace())
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != "default kube-public" {
			t.Errorf("the namespaces are %v", got)
		}
		copied := clienttest.Start(t, clienttest.Options{Replay: file})
		if err := copied.WaitReplayed(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := things(newClient(t, copied), coreV1("configmaps"), "ConfigMap").List(t.Context(), client.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Errorf("the replay has %d config maps, %v", len(list.Items), err)
		}
	})
}

func TestARecorderNoticesAConnectionThatHasDiedInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := things(newClient(t, server), coreV1("configmaps"), "ConfigMap")
		file := filepath.Join(t.TempDir(), "f")
		end := startRecord(t, server, clienttest.RecordOptions{File: file, Resources: []meta.GVR{coreV1("configmaps")}})
		time.Sleep(time.Second)
		if server.Freeze() == 0 {
			t.Fatal("the recorder has no connection")
		}
		if _, err := maps.Create(t.Context(), thing("v1", "ConfigMap", "a", nil)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range linesOf(t, file) {
			got = append(got, l.Type)
			if l.Type == "CUT" && !strings.Contains(l.Message, "the watch did not end in time") {
				t.Errorf("the reason is %q", l.Message)
			}
		}
		if text := strings.Join(got, " "); text != "SYNCED CUT ADDED END" {
			t.Errorf("the file has %s", text)
		}
	})
}

func TestAServerThatEndsEveryWatchAtOnceIsNotAskedWithoutPause(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"an end":  clienttest.Frames(false),
		"expired": clienttest.Frames(false, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`),
		"a cut":   clienttest.Reset(),
	} {
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{})
			server.Intercept(func(r *http.Request) http.HandlerFunc {
				if clienttest.RequestOf(r).Verb == "watch" {
					return answer
				}
				return nil
			})
			end := startRecord(t, server, clienttest.RecordOptions{File: filepath.Join(t.TempDir(), "f"), Resources: []meta.GVR{coreV1("configmaps")}})
			time.Sleep(time.Hour)
			if err := end(); err != nil {
				t.Fatal(err)
			}
			watches := server.Requests()[clienttest.Call{Verb: "watch", Resource: "configmaps"}]
			if watches < 60 || watches > 200 {
				t.Errorf("%s: there were %d watches in an hour", name, watches)
			}
		})
	}
}
