package clienttest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// tableBody is the part of a Table that kubectl prints.
type tableBody struct {
	Kind    string
	Columns []struct{ Name string } `json:"columnDefinitions"`
	Rows    []struct {
		Cells  []any
		Object json.RawMessage
	}
}

func (b tableBody) String() string {
	var s []string
	for _, c := range b.Columns {
		s = append(s, c.Name)
	}
	for _, r := range b.Rows {
		s = append(s, fmt.Sprint(r.Cells))
	}
	return strings.Join(s, " ")
}

func TestTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		h.create(t, "a")
		h.must(t, http.MethodPost, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"},"stringData":{"a":"1","b":"2"}}`)
		h.must(t, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/default/leases", `{"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}}`)
		h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w"}}`)
		<-time.After(90 * time.Minute)
		for path, want := range map[string]string{
			configMaps:                                 "Name Data Age [a 1 90m]",
			configMaps + "/a":                          "Name Data Age [a 1 90m]",
			"/api/v1/namespaces/default/secrets":       "Name Type Data Age [s Opaque 2 90m]",
			"/api/v1/namespaces/default":               "Name Status Age [default Active 90m]",
			"/apis/coordination.k8s.io/v1/leases":      "Name Holder Age [l me 90m]",
			widgetPath:                                 "Name Age [w 90m]",
			configMaps + "?labelSelector=none":         "Name Data Age",
			configMaps + "?includeObject=Object":       "Name Data Age [a 1 90m]",
			configMaps + "?includeObject=None&limit=1": "Name Data Age [a 1 90m]",
		} {
			var got tableBody
			if err := json.Unmarshal([]byte(h.must(t, http.MethodGet, path, "", "Accept", asTable)), &got); err != nil || got.Kind != "Table" {
				t.Fatalf("%s: %v", path, err)
			}
			if got.String() != want {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
			for _, r := range got.Rows {
				want := "PartialObjectMetadata"
				if strings.Contains(path, "=Object") {
					want = "ConfigMap"
				}
				if strings.Contains(path, "=None") {
					want = ""
				}
				if got := at(string(r.Object), "kind"); got != want {
					t.Errorf("%s: a row has a %q, want %q", path, got, want)
				}
			}
		}
		if a := h.do(t, http.MethodGet, configMaps+"?includeObject=Some", "", "Accept", asTable); a.code != 400 {
			t.Errorf("an unknown includeObject: got %d %s", a.code, a.body)
		}
	})
}

func TestTheTableOfAScaleHasTheColumnsOfScale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		const path = "/apis/apps/v1/namespaces/default/deployments"
		h.must(t, http.MethodPost, path, `{"metadata":{"name":"a","labels":{"b":"c"}},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`)
		h.must(t, http.MethodPatch, path+"/a/status", `{"status":{"replicas":2}}`)
		<-time.After(time.Hour)
		for query, kind := range map[string]string{"": "PartialObjectMetadata", "?includeObject=Object": "Scale", "?includeObject=None": ""} {
			var got tableBody
			if err := json.Unmarshal([]byte(h.must(t, http.MethodGet, path+"/a/scale"+query, "", "Accept", asTable)), &got); err != nil {
				t.Fatal(err)
			}
			if want := "Name Desired Available Age [a 3 2 60m]"; got.Kind != "Table" || got.String() != want {
				t.Errorf("%s: got a %s: %s, want %s", query, got.Kind, got.String(), want)
			}
			if row := string(got.Rows[0].Object); at(row, "kind") != kind || strings.Contains(row, "labels") {
				t.Errorf("%s: the row has %s, want a %q", query, row, kind)
			}
		}
		if a := h.do(t, http.MethodGet, path+"/a/scale?includeObject=Some", "", "Accept", asTable); a.code != 400 {
			t.Errorf("an unknown includeObject: got %d %s", a.code, a.body)
		}
		const partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		if got := h.must(t, http.MethodGet, path+"/a/scale", "", "Accept", partial); at(got, "kind") != "PartialObjectMetadata" || at(got, "spec") != "" {
			t.Errorf("metadata alone is %s", got)
		}
		if a := h.do(t, http.MethodPatch, path+"/a/scale", `{"spec":{"replicas":5}}`, "Accept", "text/html"); a.code != http.StatusNotAcceptable {
			t.Errorf("a patch with a form that there is not: got %d %s", a.code, a.body)
		}
		if got := h.must(t, http.MethodGet, path+"/a/scale", ""); !strings.Contains(got, `"spec":{"replicas":3}`) {
			t.Errorf("the scale is %s, want it as it was", got)
		}
	})
}

func TestAWatchOfTablesSendsItsColumnsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a")
		w := h.watch(t, configMaps+"?timeoutSeconds=10&allowWatchBookmarks=true", "Accept", asTable)
		h.create(t, "b")
		events, err := w.rest()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			var b tableBody
			if err := json.Unmarshal(e.Object, &b); err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Type+" "+b.String())
		}
		want := "ADDED Name Data Age [a 1 0s]; BOOKMARK [ 0 <unknown>]; ADDED [b 1 0s]; BOOKMARK [ 0 <unknown>]"
		if strings.Join(got, "; ") != want {
			t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
		}
	})
}

func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]string{
		0:                                      "0s",
		119 * time.Second:                      "119s",
		2 * time.Minute:                        "2m",
		9*time.Minute + 59*time.Second:         "9m59s",
		10*time.Minute + time.Second:           "10m",
		3 * time.Hour:                          "3h",
		7*time.Hour + 5*time.Minute:            "7h5m",
		9*time.Hour + 5*time.Minute:            "9h",
		50 * time.Hour:                         "2d2h",
		9*24*time.Hour + 5*time.Hour:           "9d",
		2*24*time.Hour + 59*time.Minute:        "2d",
		4*time.Minute + 500*time.Millisecond:   "4m",
		47*time.Hour + 59*time.Minute:          "47h",
		2*time.Hour + 59*time.Minute:           "179m",
		7*24*time.Hour + 23*time.Hour + 59*1e9: "7d23h",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, clienttest.Options{})
			h.create(t, "a")
			<-time.After(age)
			var got tableBody
			if err := json.Unmarshal([]byte(h.must(t, http.MethodGet, configMaps+"/a", "", "Accept", asTable)), &got); err != nil {
				t.Fatal(err)
			}
			if got := got.Rows[0].Cells[2]; got != want {
				t.Errorf("%s: got %v, want %s", age, got, want)
			}
		})
	}
}
