package clienttest_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/protobuf"
)

func TestListsAreWrittenAsTheRealServerWritesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		for _, name := range []string{"b", "a"} {
			h.must(t, http.MethodPost, configMaps, `{"metadata":{"name":"`+name+`"}}`)
			h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"`+name+`"}}`)
		}
		const (
			partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
			itemA   = `"name":"a","namespace":"default","uid":"UID","resourceVersion":"6","creationTimestamp":"2000-01-01T00:00:00Z"`
			itemB   = `"name":"b","namespace":"default","uid":"UID","resourceVersion":"4","creationTimestamp":"2000-01-01T00:00:00Z"`
			widgetA = `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"creationTimestamp":"2000-01-01T00:00:00Z","generation":1,` +
				`"name":"a","namespace":"default","resourceVersion":"7","uid":"UID"}}`
			token = `"continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiIvYVx1MDAwMCJ9"`
		)
		for _, test := range []struct{ name, path, accept, want string }{
			{
				"a compiled-in type: metadata first, items without a kind", configMaps, "",
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{` + itemA + `}},{"metadata":{` + itemB + `}}]}`,
			},
			{
				"one page of it", configMaps + "?limit=1", "", `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7",` + token +
					`,"remainingItemCount":1},"items":[{"metadata":{` + itemA + `}}]}`,
			},
			{
				"nothing of it", configMaps + "?labelSelector=none", "",
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`,
			},
			{
				"a custom type: metadata last, items with their kind", widgetPath + "?fieldSelector=metadata.name%3Da", "",
				`{"apiVersion":"example.dev/v1","items":[` + widgetA + `],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"7"}}`,
			},
			{
				"one page of it", widgetPath + "?limit=1", "", `{"apiVersion":"example.dev/v1","items":[` + widgetA + `],"kind":"WidgetList",` +
					`"metadata":{` + token + `,"remainingItemCount":1,"resourceVersion":"7"}}`,
			},
			{
				"metadata alone", configMaps + "?limit=1", partial, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
					`"metadata":{"resourceVersion":"7",` + token + `,"remainingItemCount":1},"items":[{"kind":"PartialObjectMetadata",` +
					`"apiVersion":"meta.k8s.io/v1","metadata":{` + itemA + `}}]}`,
			},
		} {
			got := hideUID(h.must(t, http.MethodGet, test.path, "", "Accept", test.accept))
			if got != test.want+"\n" {
				t.Errorf("%s:\ngot  %swant %s", test.name, got, test.want)
			}
		}
	})
}

// behaviour 79: pages are concatenated in order, and show the collection at one version.
func TestPagesAreOneSnapshot(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"default-2"}}`)
	var want []string
	for i := range 10 {
		name := fmt.Sprintf("a%02d", i)
		h.create(t, name)
		want = append(want, name)
	}
	h.must(t, http.MethodPost, "/api/v1/namespaces/default-2/configmaps", `{"metadata":{"name":"z"}}`)
	for limit := 1; limit <= 11; limit++ {
		for _, test := range []struct {
			path string
			want []string
		}{
			{configMaps, want},
			{"/api/v1/configmaps", append([]string{"z"}, want...)}, // "default-2/" is before "default/"
		} {
			var got []string
			token, version := "", ""
			for page := 0; ; page++ {
				list := h.must(t, http.MethodGet, fmt.Sprintf("%s?limit=%d&continue=%s", test.path, limit, token), "")
				got = append(got, names(t, list)...)
				if v := at(list, "metadata", "resourceVersion"); version != "" && v != version {
					t.Errorf("the version goes from %s to %s between pages", version, v)
				} else {
					version = v
				}
				token = at(list, "metadata", "continue")
				if remaining := at(list, "metadata", "remainingItemCount"); (remaining == "") != (token == "") ||
					remaining != "" && remaining != fmt.Sprint(len(test.want)-len(got)) {
					t.Errorf("%d of %d are there and %q remain", len(got), len(test.want), remaining)
				}
				if (token == "") != (len(got) == len(test.want)) {
					t.Fatalf("%d of %d are there and the token is %q", len(got), len(test.want), token)
				}
				if token == "" {
					break
				}
				// The pages lack all changes that happen between them.
				name := fmt.Sprintf("a%02d-%d-%d", page, limit, page)
				h.create(t, name)
				h.must(t, http.MethodPatch, configMaps+"/a09", `{"data":{"k":"`+name+`"}}`)
				h.must(t, http.MethodDelete, configMaps+"/"+name, "")
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("pages of %d: got %v, want %v", limit, got, test.want)
			}
		}
	}
}

func TestSelectors(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	h.create(t, "a", `"labels":{"l":"1"}`)
	h.create(t, "b", `"labels":{"l":"2","x":""}`)
	h.create(t, "c")
	h.must(t, http.MethodPost, "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"a"}}`)
	for _, test := range []struct{ kind, selector, want string }{
		{"label", "l", "[a b]"},
		{"label", "!l", "[c a]"},
		{"label", "l=1", "[a]"},
		{"label", "l==1", "[a]"},
		{"label", "l!=1", "[b c a]"},
		{"label", "l in (1,2),x", "[b]"},
		{"label", "l notin (1)", "[b c a]"},
		{"label", "", "[a b c a]"},
		{"field", "metadata.name=a", "[a a]"},
		{"field", "metadata.name!=a", "[b c]"},
		{"field", "metadata.name=a,metadata.namespace=default", "[a]"},
		{"field", "metadata.namespace!=default", "[a]"},
		{"field", "", "[a b c a]"},
	} {
		got := names(t, h.must(t, http.MethodGet, "/api/v1/configmaps?"+test.kind+"Selector="+url.QueryEscape(test.selector), ""))
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s selector %q: got %v, want %s", test.kind, test.selector, got, test.want)
		}
	}
	for name, color := range map[string]string{"r": "red", "g": "green"} {
		h.must(t, http.MethodPost, widgetPath,
			`{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"`+name+`"},"spec":{"color":"`+color+`"}}`)
	}
	if got := names(t, h.must(t, http.MethodGet, widgetPath+"?fieldSelector=spec.color%3Dred", "")); fmt.Sprint(got) != "[r]" {
		t.Errorf("a selectable field: got %v", got)
	}
	list := h.must(t, http.MethodGet, configMaps+"?limit=1&labelSelector=l", "")
	if at(list, "metadata", "continue") == "" || at(list, "metadata", "remainingItemCount") != "" {
		t.Errorf("a page of selected objects says how many remain: %s", list)
	}
}

func TestListVersions(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	v1 := at(h.create(t, "a"), "metadata", "resourceVersion")
	v2 := at(h.create(t, "b"), "metadata", "resourceVersion")
	h.must(t, http.MethodPatch, configMaps+"/a", `{"data":{"k":"2"}}`)
	h.must(t, http.MethodDelete, configMaps+"/b", "")
	now := h.version(t)
	for _, test := range []struct{ name, query, version, want string }{
		{"no version", "", now, "[a=2]"},
		{"any version", "resourceVersion=0", now, "[a=2]"},
		{"any version, without pages", "resourceVersion=0&limit=1", now, "[a=2]"},
		{"not older than", "resourceVersion=" + v1, now, "[a=2]"},
		{"not older than, in words", "resourceVersion=" + v1 + "&resourceVersionMatch=NotOlderThan", now, "[a=2]"},
		{"exactly the first", "resourceVersion=" + v1 + "&resourceVersionMatch=Exact", v1, "[a=v]"},
		{"exactly the second", "resourceVersion=" + v2 + "&resourceVersionMatch=Exact", v2, "[a=v b=v]"},
		{"a limit makes it exact", "resourceVersion=" + v2 + "&limit=10", v2, "[a=v b=v]"},
		{"before everything", "resourceVersion=1&resourceVersionMatch=Exact", "1", "[]"},
	} {
		list := h.must(t, http.MethodGet, configMaps+"?"+test.query, "")
		var got []string
		for _, item := range strings.SplitAfter(list, `"k":`)[1:] {
			got = append(got, fmt.Sprint(names(t, list)[len(got)], "=", item[1:2]))
		}
		if v := at(list, "metadata", "resourceVersion"); v != test.version || fmt.Sprint(got) != test.want {
			t.Errorf("%s: got %v at %s, want %s at %s", test.name, got, v, test.want, test.version)
		}
	}
	if got := h.must(t, http.MethodGet, configMaps+"/a?resourceVersion=0", ""); at(got, "data", "k") != "2" {
		t.Errorf("get at any version: got %s", got)
	}
}

func TestInvalidListsAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	for i := range 3 {
		h.create(t, fmt.Sprint("a", i))
	}
	token := at(h.must(t, http.MethodGet, configMaps+"?limit=1", ""), "metadata", "continue")
	encoded := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	options := func(name, query, message string, causes ...string) refusal {
		return refusal{
			name: name, path: configMaps + "?" + query, code: 422, reason: "Invalid", kind: "ListOptions", group: "meta.k8s.io",
			message: `ListOptions.meta.k8s.io "" is invalid: ` + message, causes: causes,
		}
	}
	bad := func(name, query, message string) refusal {
		return refusal{name: name, path: configMaps + "?" + query, code: 400, reason: "BadRequest", message: message}
	}
	const (
		match     = "resourceVersionMatch"
		forbidden = match + ": FieldValueForbidden"
	)
	for _, test := range []refusal{
		options("match without a version", match+"=Exact",
			match+": Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided", forbidden),
		options("exactly any version", match+"=Exact&resourceVersion=0",
			match+`: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`, forbidden),
		options("an unknown match", match+"=Foo&resourceVersion=1",
			match+`: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""`, match+": FieldValueNotSupported"),
		options("match with continue", match+"=Exact&resourceVersion=1&continue="+token,
			match+": Forbidden: resourceVersionMatch is forbidden when continue is provided", forbidden),
		options("initial events", "sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
			"sendInitialEvents: FieldValueForbidden"),
		bad("a version with continue", "resourceVersion=1&continue="+token, "specifying resource version is not allowed when using continue"),
		bad("a version that is no number", "resourceVersion=abc",
			`invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`),
		bad("a limit that is no number", "limit=abc", `strconv.ParseInt: parsing "abc": invalid syntax`),
		bad("a token that is none", "continue=abc",
			"invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value"),
		bad("a token that is no base64", "continue=%21", "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
		bad("a token of another form", "continue="+encoded(`{"v":"v0","rv":5,"start":"a"}`), "invalid continue token: ..."),
		bad("a token without a version", "continue="+encoded(`{"v":"meta.k8s.io/v1","start":"a"}`), "invalid continue token: ..."),
		bad("a token without a start", "continue="+encoded(`{"v":"meta.k8s.io/v1","rv":5}`), "invalid continue token: ..."),
		bad("a token that leads elsewhere", "continue="+encoded(`{"v":"meta.k8s.io/v1","rv":5,"start":"/../x"}`),
			"invalid continue token: continue key is not valid: /../x"),
		bad("a bad label selector", "labelSelector=a+in+(b", "unable to parse requirement: ..."),
		bad("a bad field selector", "fieldSelector=foo", "invalid selector: 'foo'; ..."),
		bad("a field that cannot be selected", "fieldSelector=data.k%3Dv",
			`"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"`),
		{
			name: "a field of a custom object that cannot be selected", path: widgetPath + "?fieldSelector=spec.x%3Dv", code: 400,
			reason: "BadRequest", message: "field label not supported: spec.x",
		},
		{
			name: "get at a version that is no number", path: configMaps + "/a0?resourceVersion=x", code: 500,
			message: `resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`,
		},
	} {
		test.method = http.MethodGet
		t.Run(test.name, func(t *testing.T) { test.check(t, h) })
	}
}

func TestAcceptableForms(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	const (
		tables   = "application/json;as=Table;v=v1;g=meta.k8s.io"
		partial  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		partials = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	)
	for _, test := range []struct{ accept, one, all string }{
		{"", "ConfigMap", "ConfigMapList"},
		{"*/*", "ConfigMap", "ConfigMapList"},
		{"application/json;q=0.1", "ConfigMap", "ConfigMapList"},
		{"application/vnd.kubernetes.protobuf,application/json", "ConfigMap in protobuf", "ConfigMapList in protobuf"},
		{"application/json,application/vnd.kubernetes.protobuf", "ConfigMap", "ConfigMapList"},
		{"application/json;q=0.5,application/vnd.kubernetes.protobuf;q=0.9", "ConfigMap in protobuf", "ConfigMapList in protobuf"},
		{"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", "ConfigMap", "ConfigMapList"},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "PartialObjectMetadata in protobuf", "406"},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io", "406", "PartialObjectMetadataList in protobuf"},
		{"application/json;as=Table;v=v9;g=meta.k8s.io, application/json", "ConfigMap", "ConfigMapList"},
		{tables + ",application/json", "Table", "Table"},
		{partial + ",application/json", "PartialObjectMetadata", "406"},
		{partials + ",application/json", "406", "PartialObjectMetadataList"},
		{"text/html", "406", "406"},
		{"application/vnd.kubernetes.protobuf", "ConfigMap in protobuf", "ConfigMapList in protobuf"},
		{"application/json;as=Table;v=v9;g=meta.k8s.io", "406", "406"},
	} {
		for path, want := range map[string]string{configMaps + "/a": test.one, configMaps: test.all} {
			a := h.do(t, http.MethodGet, path, "", "Accept", test.accept)
			got := at(a.body, "kind")
			if e, err := protobuf.Open([]byte(a.body)); err == nil {
				got = e.Kind + " in protobuf"
			}
			if got == "Status" {
				got = fmt.Sprint(a.code)
				if a.status(t).Reason != "NotAcceptable" {
					t.Errorf("%q: got %s", test.accept, a.body)
				}
			}
			if got != want {
				t.Errorf("%q for %s: got %s, want %s", test.accept, path, got, want)
			}
		}
	}
}

// fault F10: a continue token that has expired, by Compact and by age, offers one that goes on regardless.
func TestContinueTokensExpire(t *testing.T) {
	for name, expire := range map[string]func(h *harness){
		"by Compact": func(h *harness) { h.server.Compact() },
		"by age":     func(*harness) { <-time.After(5 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{})
				for i := range 5 {
					h.create(t, fmt.Sprint("a", i))
				}
				list := h.must(t, http.MethodGet, configMaps+"?limit=2", "")
				token, version := at(list, "metadata", "continue"), at(list, "metadata", "resourceVersion")

				expire(h)
				// Nothing has changed since: the version is the present one, and cannot be too old.
				if got := names(t, h.must(t, http.MethodGet, configMaps+"?limit=2&continue="+token, "")); fmt.Sprint(got) != "[a2 a3]" {
					t.Errorf("got %v", got)
				}
				h.must(t, http.MethodDelete, configMaps+"/a3", "")
				expire(h)
				a := h.do(t, http.MethodGet, configMaps+"?limit=2&continue="+token, "")
				status := a.status(t)
				if a.code != 410 || status.Reason != "Expired" || status.Continue == "" ||
					!strings.HasPrefix(status.Message, "The provided continue parameter is too old to display a consistent list result.") {
					t.Fatalf("got %d %s", a.code, a.body)
				}
				rest := h.must(t, http.MethodGet, configMaps+"?limit=9&continue="+status.Continue, "")
				if got := names(t, rest); fmt.Sprint(got) != "[a2 a4]" || at(rest, "metadata", "resourceVersion") != h.version(t) {
					t.Errorf("the other token gives %v at %s", got, at(rest, "metadata", "resourceVersion"))
				}
				a = h.do(t, http.MethodGet, configMaps+"?resourceVersionMatch=Exact&resourceVersion="+version, "")
				if s := a.status(t); a.code != 410 || s.Reason != "Expired" || s.Message != "The resourceVersion for the provided list is too old." {
					t.Errorf("a list at that version: got %d %s", a.code, a.body)
				}
			})
		})
	}
}

// fault F9: a version that is still to come is waited for, and then refused with a hint.
func TestAFutureVersionIsAwaitedAndThenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a")
		for _, path := range []string{"?resourceVersion=9", "?resourceVersion=9&resourceVersionMatch=Exact", "/a?resourceVersion=9"} {
			start := time.Now()
			a := h.do(t, http.MethodGet, configMaps+path, "")
			want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 9, ` +
				`current: 4","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource ` +
				`version"}],"retryAfterSeconds":1},"code":504}` + "\n"
			if a.code != 504 || a.body != want || a.header.Get("Retry-After") != "1" || time.Since(start) != 3*time.Second {
				t.Errorf("%s: got %d %s after %s, want 504 %s", path, a.code, a.body, time.Since(start), want)
			}
		}
		time.AfterFunc(time.Second, func() { h.create(t, "b") })
		if got := names(t, h.must(t, http.MethodGet, configMaps+"?resourceVersion=5", "")); fmt.Sprint(got) != "[a b]" {
			t.Errorf("a version that comes in time: got %v", got)
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	h := newHarness(t, clienttest.Options{}.Bounded(3, 0))
	var versions []string
	for i := range 6 {
		versions = append(versions, at(h.create(t, fmt.Sprint("a", i)), "metadata", "resourceVersion"))
	}
	for i, v := range versions {
		a := h.do(t, http.MethodGet, configMaps+"?resourceVersionMatch=Exact&resourceVersion="+v, "")
		if want := i >= 2; (a.code == 200) != want || want && len(names(t, a.body)) != i+1 {
			t.Errorf("the list after create %d: got %d %s", i, a.code, a.body)
		}
	}
}
