package kubectlscript

import (
	"reflect"
	"slices"
	"testing"
)

func TestAScriptIsCommandsAndFiles(t *testing.T) {
	got, err := parse("# comment\n\nkubectl get cm -o jsonpath='{.a b}'\"c d\"e # again\nE='x y' F= kubectl apply -f -\n| a: 1\n|\n|   b: 2\nfile f.yaml\n| c: 3\nkubectl label a b#c= ''\nkubectl get a | kubectl create -f -\n")
	want := []Step{
		{Name: `kubectl get cm -o jsonpath='{.a b}'"c d"e # again`, Args: []string{"get", "cm", "-o", "jsonpath={.a b}c de"}},
		{Name: "E='x y' F= kubectl apply -f -", Env: []string{"E=x y", "F="}, Args: []string{"apply", "-f", "-"}, Input: "a: 1\n\n  b: 2\n"},
		{File: "f.yaml", Input: "c: 3\n"},
		{Name: "kubectl label a b#c= ''", Args: []string{"label", "a", "b#c=", ""}},
		{Name: "kubectl get a | kubectl create -f -", From: []string{"get", "a"}, Args: []string{"create", "-f", "-"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v;\nwant %+v", got, err, want)
	}
}

func TestAScriptThatIsWrongIsRefusedWithItsLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"input for nothing", "\n| a\n", "line 2: there is no command above this input"},
		{"another command", "kubectl get a\nrm -rf a\n", "line 2: a command must be kubectl, after NAME=VALUE if need be"},
		{"another command in a pipe", "kubectl get a | sort\n", "line 1: a command must be kubectl, after NAME=VALUE if need be"},
		{"no command", "A=b\n", "line 1: a command must be kubectl, after NAME=VALUE if need be"},
		{"an open quote", "kubectl get 'a\n", "line 1: the quote ' must be closed"},
		{"the same twice", "kubectl get a\n\nkubectl get a\n", "line 3: the same command is in line 1; a comment at its end would tell them apart"},
		{"a file elsewhere", "file ../a\n", "line 1: file must be followed by one name without a directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := parse(tc.text); err == nil || err.Error() != tc.want {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestTheScriptsAndTheExceptionsCanBeRead(t *testing.T) {
	scripts, err := Scripts()
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, s := range scripts {
		for _, step := range s.Steps {
			if step.File == "" {
				commands++
			}
		}
	}
	if commands < 150 || !slices.ContainsFunc(scripts, func(s Script) bool { return s.Name == Short }) {
		t.Errorf("%d scripts with %d commands, want 150 commands at least, and the script %q", len(scripts), commands, Short)
	}
	if _, err := Exceptions(); err != nil {
		t.Error(err)
	}
}

func TestNormaliseReplacesOnlyWhatMustDiffer(t *testing.T) {
	s := &Server{address: "127.0.0.1:4711", dir: "/tmp/x/get"}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "a  b\n  c: 12\nd: \"12\"\n", "a  b\n  c: 12\nd: \"12\"\n"},
		{"the address and the directory", "https://127.0.0.1:4711/api: /tmp/x/get/a.yaml", "https://SERVER/api: DIRECTORY/a.yaml"},
		{"a uid", "uid: 01234567-89ab-cdef-0123-456789abcdef", "uid: UID"},
		{"the port in an object", "{\"port\":443,\"targetPort\":4711}", "{\"port\":443,\"targetPort\":PORT}"},
		{"files of kubectl", "LIVE-123/a MERGED-45/a kubectl-edit-678.yaml", "LIVE/a MERGED/a kubectl-edit.yaml"},
		{"times", "a: \"2026-01-02T03:04:05Z\" 2026-01-02T03:04:05.123456Z Mon, 02 Jan 2026 03:04:05 +0000", "a: \"TIME\" TIME TIME"},
		{"resource versions", "resourceVersion: \"12\"\n\"resourceVersion\":\"3\"\n\"resourceVersion\": \"4\"\nResourceVersion:  5", "resourceVersion: \"VERSION\"\n\"resourceVersion\":\"VERSION\"\n\"resourceVersion\": \"VERSION\"\nResourceVersion:  VERSION"},
		{"ages, and the width of their column", "NAME   DATA   AGE     LABELS\na      1      2m10s   x\n", "NAME  DATA  AGE  LABELS\na  1  AGE  x\n"},
		{"a generated name", "configmap/generated-x7k2b created", "configmap/generated-RANDOM created"},
		{"the order of reasons", "is invalid:\n* b\n* a\nc\n* b", "is invalid:\n* a\n* b\nc\n* b"},
		{"what a service is given", "10.0.0.17  80:30086/TCP  a-10.0.0 300", "ADDRESS  80:NODEPORT/TCP  a-10.0.0 300"},
		{"a token", "eyJhbGci.eyJhdWQ.c2ln_-\n", "TOKEN\n"},
		{"a line of the log about a watch", "a\nI1122 18:57:01.123456   12345 r.go:1] \"Failed to watch\" reflector=\"x\"\nb", "a\nb"},
		{"a line of the log", "E1122 18:57:01.123456   12345 memcache.go:265] a", "E LOG] a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := s.normalise(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAnExplanationIsComparedWithoutDescriptions(t *testing.T) {
	got := withoutDescriptions("KIND:  A\n\nDESCRIPTION:\n    An a.\n    \nFIELDS:\n  b\t<string> -required-\n  enum: X, Y\n    The b.\n\n    c\t<d>\n")
	if want := "KIND:  A\n\nDESCRIPTION:\nFIELDS:\n  b\t<string> -required-\n  enum: X, Y\n\n    c\t<d>\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestADifferenceIsTheLinesThatDiffer(t *testing.T) {
	got := difference("a\nb\nc\nd\ne\nf", "a\nb\nx\nd\ne\nf\ng")
	if want := "  b\n- c\n+ x\n  d\n  f\n+ g"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAComparisonSaysWhichOutputsDiffer(t *testing.T) {
	c := Comparison{Differs: map[string]bool{}, Details: map[string]string{}}
	c.add("get", "kubectl get a", Result{0, "a\n", ""}, Result{1, "a\n", "no\n"})
	c.add("get", "kubectl get b", Result{0, "b\n", ""}, Result{0, "b\n", ""})
	for name, want := range map[string]bool{
		"get code stderr: kubectl get a": true, "get code: kubectl get a": false, "get code stdout stderr: kubectl get a": false,
		"get stdout: kubectl get b": false,
	} {
		if got, tried := c.Differs[name]; !tried || got != want {
			t.Errorf("%q differs: %t, tried: %t; want %t", name, got, tried, want)
		}
	}
	want := "code:\n- 0\n+ 1\nstderr:\n+ no\n  \n"
	if got := c.Details["get code stderr: kubectl get a"]; len(c.Details) != 1 || got != want {
		t.Errorf("the details are %q, want %q", got, want)
	}
}
