package conformance

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Events are the records of events.k8s.io, and CoreEvents the same objects in the core group.
var (
	Events     = client.Type[*meta.Unstructured]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}
	CoreEvents = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Event", Resource: "events"}
)

// aRecord is an Event of events.k8s.io, and anOlderOne what a recorder of the older kind sends to the core group. NAME
// stands for its name.
const (
	aRecord = `{"metadata":{"name":"NAME"},"eventTime":"2026-01-02T03:04:05.000006Z","type":"Normal","reason":"Knotted","action":"Knot",` +
		`"note":"a bowline","reportingController":"example.com/knotter","reportingInstance":"knotter-1",` +
		`"regarding":{"apiVersion":"v1","kind":"Pod","namespace":"{ns}","name":"a","uid":"1-2","fieldPath":"spec.containers{a}"},` +
		`"related":{"kind":"Node","name":"n"}}`
	anOlderOne = `{"metadata":{"name":"NAME"},"type":"Warning","reason":"Slipped","message":"a granny","count":3,` +
		`"source":{"component":"older","host":"h"},"firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:05:05Z",` +
		`"involvedObject":{"kind":"Pod","namespace":"{ns}","name":"b"}}`
)

func record(name string) string { return strings.Replace(aRecord, "NAME", name, 1) }

// testRecords is about Events, which two groups serve.
func testRecords(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := strings.NewReplacer("{ns}", ns, "{core}", "/api/v1/namespaces/"+ns+"/events", "{events}", "/apis/events.k8s.io/v1/namespaces/"+ns+"/events")
	run := func(e exchange) {
		t.Helper()
		e.run(t, s, names)
	}
	created := func(name, path, body, at, is string) exchange {
		e := applied(name, "POST "+path, "", body, at, is)
		e.code = http.StatusCreated
		return e
	}
	read := func(name, path, at, is string) exchange {
		return applied(name, "GET "+path, "", "", at, names.Replace(is))
	}

	for _, e := range []exchange{
		created("a record", "{events}", record("a"), "eventTime", `"2026-01-02T03:04:05.000006Z"`),
		read("its object", "{core}/a", "involvedObject", `{"apiVersion":"v1","fieldPath":"spec.containers{a}","kind":"Pod","name":"a","namespace":"{ns}","uid":"1-2"}`),
		read("its note", "{core}/a", "message", `"a bowline"`),
		read("its controller", "{core}/a", "reportingComponent", `"example.com/knotter"`),
		read("its instance", "{core}/a", "reportingInstance", `"knotter-1"`),
		read("its related object", "{core}/a", "related", `{"kind":"Node","name":"n"}`),
		read("its action", "{core}/a", "action", `"Knot"`),
		read("its time", "{core}/a", "eventTime", `"2026-01-02T03:04:05.000006Z"`),
		read("its first time", "{core}/a", "firstTimestamp", `null`),
		read("its source", "{core}/a", "source", `{}`),
		read("its kind", "{core}/a", "apiVersion", `"v1"`),
		read("the note itself", "{events}/a", "note", `"a bowline"`),
		read("the controller itself", "{events}/a", "reportingController", `"example.com/knotter"`),
		read("no message", "{events}/a", "message", `null`),

		created("an older record", "{core}", strings.Replace(anOlderOne, "NAME", "b", 1), "count", "3"),
		read("its count", "{events}/b", "deprecatedCount", "3"),
		read("its source", "{events}/b", "deprecatedSource", `{"component":"older","host":"h"}`),
		read("its first time", "{events}/b", "deprecatedFirstTimestamp", `"2026-01-02T03:04:05Z"`),
		read("its last time", "{events}/b", "deprecatedLastTimestamp", `"2026-01-02T03:05:05Z"`),
		read("its time", "{events}/b", "eventTime", `null`),
		read("its object", "{events}/b", "regarding", `{"kind":"Pod","name":"b","namespace":"{ns}"}`),
		read("no controller", "{events}/b", "reportingController", `null`),
		read("no controller in the core", "{core}/b", "reportingComponent", `""`),

		applied("a series", "{events}/a", asMerge, `{"series":{"count":2,"lastObservedTime":"2026-01-02T04:04:06.500000+01:00"}}`,
			"series", `{"count":2,"lastObservedTime":"2026-01-02T03:04:06.500000Z"}`),
		read("its series", "{core}/a", "series", `{"count":2,"lastObservedTime":"2026-01-02T03:04:06.500000Z"}`),
		applied("a strategic patch", "{events}/a", asStrategic, `{"series":{"count":3}}`, "series.count", "3"),
		applied("a message is changed in the core", "{core}/a", asMerge, `{"message":"two bowlines"}`, "message", `"two bowlines"`),
		read("which is the note", "{events}/a", "note", `"two bowlines"`),

		read("by object", "{core}?fieldSelector=involvedObject.name%3Da", "items.reason", `["Knotted"]`),
		read("by object too", "{events}?fieldSelector=regarding.name%3Db", "items.reason", `["Slipped"]`),
		read("by source", "{core}?fieldSelector=source%3Dolder", "items.reason", `["Slipped"]`),
		read("by a source that is the controller", "{core}?fieldSelector=source%3Dexample.com/knotter", "items.reason", `["Knotted"]`),
		read("by component", "{core}?fieldSelector=reportingComponent%3Dexample.com/knotter", "items.reason", `["Knotted"]`),
		read("by controller", "{events}?fieldSelector=reportingController%3Dexample.com/knotter", "items.reason", `["Knotted"]`),
		refused("by the other view's field", "GET {events}?fieldSelector=source%3Da", "", "", 400, apierrors.BadRequest, "field label not supported: source"),
	} {
		run(e)
	}
	testRecordRules(t, run)
	testRecordOwners(t, run)
	testRecordTwins(t, s, ns)
}

// testRecordRules is about Events that the server refuses.
func testRecordRules(t *testing.T, run func(exchange)) {
	t.Helper()
	const invalid = `Event "x" is invalid: `
	change := func(was, is string) string {
		body := record("x")
		if !strings.Contains(body, was) {
			t.Fatalf("no %s in %s", was, body)
		}
		return strings.Replace(body, was, is, 1)
	}
	long := strings.Repeat("x", 129)
	for _, c := range []struct{ name, body, message string }{
		{"no controller", change(`example.com/knotter`, ``), "[reportingController: Required value, reportingController: Invalid value: \"\": name part must be non-empty, " +
			`reportingController: Invalid value: "": name part must consist of *`},
		{"a controller that is no name", change(`example.com/knotter`, `a knotter`), `reportingController: Invalid value: "a knotter": name part must consist of *`},
		{"a controller of three parts", change(`example.com/knotter`, `a/b/c`), `reportingController: Invalid value: "a/b/c": a valid label key must consist of *`},
		{"no instance", change(`knotter-1`, ``), "reportingInstance: Required value"},
		{"a long instance", change(`knotter-1`, long), `reportingInstance: Invalid value: "": can have at most 128 characters`},
		{"no action", change(`"Knot"`, `""`), "action: Required value"},
		{"a long action", change(`"Knot"`, `"`+long+`"`), `action: Invalid value: "": can have at most 128 characters`},
		{"no reason", change(`Knotted`, ``), "reason: Required value"},
		{"a long reason", change(`Knotted`, long), `reason: Invalid value: "": can have at most 128 characters`},
		{"a long note", change(`a bowline`, strings.Repeat("y", 1025)), `message: Invalid value: "": can have at most 1024 characters`},
		{"no time", change(`"2026-01-02T03:04:05.000006Z"`, `null`), "eventTime: Required value"},
		{"another type", change(`Normal`, `Odd`), `type: Invalid value: "": has invalid value: Odd`},
		{"no type", change(`Normal`, ``), `type: Invalid value: "": has invalid value: `},
		{"no namespace of the object", change(`"namespace":"{ns}",`, ``), `involvedObject.namespace: Invalid value: "": does not match event.namespace`},
		{"a series of one", change(`"type"`, `"series":{"count":1,"lastObservedTime":"2026-01-02T03:04:05.000006Z"},"type"`), `series.count: Invalid value: "": should be at least 2`},
		{"a series without a time", change(`"type"`, `"series":{"count":2},"type"`), "series.lastObservedTime: Required value"},
		{
			"everything that is deprecated", change(`"type"`, `"deprecatedSource":{"component":"a"},"deprecatedCount":1,"deprecatedFirstTimestamp":"2026-01-02T03:04:05Z",`+
				`"deprecatedLastTimestamp":"2026-01-02T03:04:05Z","type"`),
			`[firstTimestamp: Invalid value: "": needs to be unset, lastTimestamp: Invalid value: "": needs to be unset, count: Invalid value: "": needs to be unset, ` +
				`source: Invalid value: "": needs to be unset]`,
		},
	} {
		e := refused(c.name, "POST {events}", "", c.body, 422, apierrors.Invalid, invalid+c.message)
		if !strings.Contains(c.message, "*") {
			e.message = c.message
		}
		run(e)
		e.name, e.path = c.name+", by an update", "PUT {events}/x"
		run(e)
	}
	run(refused("a name that is no DNS name", "POST {events}", "", record("A_b"), 422, apierrors.Invalid, "*"))
	ok := func(name, path, body string) {
		e := applied(name, path, "", body, "", "")
		e.code = http.StatusCreated
		run(e)
	}
	ok("such a name in the core", "POST {core}", strings.Replace(anOlderOne, "NAME", "A_b", 1))
	ok("an object of another namespace", "POST {events}", strings.Replace(change(`"namespace":"{ns}"`, `"namespace":"other"`), `"x"`, `"other"`, 1))
	ok("a note of 1024 bytes", "POST {events}", strings.Replace(change(`a bowline`, strings.Repeat("y", 1024)), `"x"`, `"long"`, 1))
	ok("a cluster-wide object, in default", "POST /apis/events.k8s.io/v1/namespaces/default/events",
		strings.Replace(change(`"namespace":"{ns}",`, ``), `"name":"x"`, `"generateName":"conformance-"`, 1))
	ok("a series from the start", "POST {events}",
		strings.Replace(change(`"type"`, `"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:05.000006Z"},"type"`), `"x"`, `"series"`, 1))
	ok("an update that creates", "PUT {events}/put", record("put"))

	older := func(was, is string) string {
		return strings.Replace(strings.Replace(anOlderOne, "NAME", "x", 1), was, is, 1)
	}
	run(refused("an older record of another namespace", "POST {core}", "", older(`"namespace":"{ns}"`, `"namespace":"other"`), 422, apierrors.Invalid,
		`involvedObject.namespace: Invalid value: "other": does not match event.namespace`))
	run(refused("a newer record in the core", "POST {core}", "", older(`"count"`, `"eventTime":"2026-01-02T03:04:05.000006Z","count"`), 422, apierrors.Invalid,
		invalid+"[reportingComponent: Required value, *, reportingInstance: Required value, action: Required value]"))
	ok("a long message in the core", "POST {core}", strings.Replace(older(`a granny`, strings.Repeat("y", 1025)), `"x"`, `"granny"`, 1))

	const fixed = "field is immutable"
	for _, c := range []struct{ name, change, message string }{
		{"the note", `{"note":"x"}`, `message: Invalid value: "x": ` + fixed},
		{"no note", `{"note":null}`, `message: Invalid value: "": ` + fixed},
		{"the reason", `{"reason":"X"}`, `reason: Invalid value: "X": ` + fixed},
		{"the type", `{"type":"Warning"}`, `type: Invalid value: "Warning": ` + fixed},
		{"the action", `{"action":"X"}`, `action: Invalid value: "X": ` + fixed},
		{"the controller", `{"reportingController":"x"}`, `reportingController: Invalid value: "x": ` + fixed},
		{"the instance", `{"reportingInstance":"x"}`, `reportingInstance: Invalid value: "x": ` + fixed},
		{"the count", `{"deprecatedCount":2}`, `count: Invalid value: 2: ` + fixed},
		{"the time", `{"eventTime":"2027-01-02T03:04:05.000006Z"}`, `eventTime: Invalid value: *: ` + fixed},
		{"the first time", `{"deprecatedFirstTimestamp":"2027-01-02T03:04:05Z"}`, `firstTimestamp: Invalid value: *: ` + fixed},
		{"the object", `{"regarding":{"name":"z"}}`, `involvedObject: Invalid value: *: ` + fixed},
		{"the related object", `{"related":{"name":"z"}}`, `related: Invalid value: *: ` + fixed},
		{"no related object", `{"related":null}`, `related: Invalid value: *: ` + fixed},
		{"the source", `{"deprecatedSource":{"host":"z"}}`, `source: Invalid value: *: ` + fixed},
		{"a series of one", `{"series":{"count":1,"lastObservedTime":"2026-01-02T03:04:05.000006Z"}}`, `series.count: Invalid value: "": should be at least 2`},
		{"a series without a time", `{"series":{"count":2}}`, "series.lastObservedTime: Required value"},
		{"two of them", `{"note":"x","type":"Warning"}`, `[message: Invalid value: "x": ` + fixed + `, type: Invalid value: "Warning": ` + fixed + `]`},
	} {
		run(refused("change "+c.name, "{events}/put", asMerge, c.change, 422, apierrors.Invalid, strings.Replace(invalid, "x", "put", 1)+c.message))
	}
	run(refused("a long message of a newer record in the core", "{core}/put", asMerge, `{"message":"`+strings.Repeat("y", 1025)+`"}`, 422, apierrors.Invalid,
		`message: Invalid value: "": can have at most 1024 characters`))
	run(refused("a bad label", "{events}/put", asMerge, `{"metadata":{"labels":{"a":"b c"}}}`, 422, apierrors.Invalid, `Event "put" is invalid: metadata.labels: *`))
	run(applied("labels may change", "{events}/put", asMerge, `{"metadata":{"labels":{"a":"b"}}}`, "metadata.labels", `{"a":"b"}`))
	run(applied("the same time in other words", "{events}/put", asMerge, `{"eventTime":"2026-01-02T04:04:05.000006+01:00"}`, "eventTime", `"2026-01-02T03:04:05.000006Z"`))
	const few = `parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"`
	run(refused("a time with too few digits", "POST {events}", "", change(`05.000006Z`, `05Z`), 400, apierrors.BadRequest,
		`Event in version "v1" cannot be handled as a Event: `+few))
	run(refused("a patch of one", "{events}/put", asMerge, `{"eventTime":"2026-01-02T03:04:05Z"}`, 422, apierrors.Invalid, "*"+few))
	run(refused("a time that is none", "POST {core}", "", older(`2026-01-02T03:05:05Z`, `today`), 400, apierrors.BadRequest,
		`Event in version "v1" cannot be handled as a Event: parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"`))
	run(applied("no series any more", "{events}/series", asMerge, `{"series":null}`, "series", "null"))
}

// testRecordOwners is about managedFields: a write through one group drops the owners that have written through the
// other.
func testRecordOwners(t *testing.T, run func(exchange)) {
	t.Helper()
	config := strings.Replace(record("owned"), `{"metadata"`, `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata"`, 1)
	first := applied("an apply", "PATCH {events}/owned?fieldManager=a", "apply-patch+yaml", config, "metadata.managedFields.apiVersion", `["events.k8s.io/v1"]`)
	first.code = http.StatusCreated
	run(first)
	run(applied("its owner, seen from the core", "GET {core}/owned", "", "", "metadata.managedFields.apiVersion", `["events.k8s.io/v1"]`))
	run(applied("an update in the core", "{core}/owned?fieldManager=b", asMerge, `{"message":"b","count":2}`, "metadata.managedFields.manager", `["b"]`))
	run(applied("who owns what", "GET {events}/owned", "", "", "metadata.managedFields.fieldsV1", `[{"f:count":{},"f:message":{}}]`))
}

// testRecordTwins is about what the two views have in common: versions, watches and deletions.
func testRecordTwins(t *testing.T, s suite, ns string) {
	newer, older := client.For(s.client, Events), client.For(s.client, CoreEvents)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	version := must[meta.List[*meta.Unstructured]](t)(older.List(ctx, client.ListOptions{Namespace: ns})).ResourceVersion
	key := meta.Key{Namespace: ns, Name: "twin"}
	made := must[*meta.Unstructured](t)(newer.Create(ctx, unstructured(t, strings.ReplaceAll(record(key.Name), "{ns}", ns), ns)))
	seen := must[*meta.Unstructured](t)(older.Get(ctx, key))
	equal(t, "version in the core", seen.GetResourceVersion(), made.GetResourceVersion())
	equal(t, "uid in the core", meta.UID(seen), meta.UID(made))
	must[*meta.Unstructured](t)(newer.Patch(ctx, key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]string{"a": "b"}}})))
	if err := older.Delete(ctx, key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := newer.Get(ctx, key)
	wantReason(t, err, apierrors.NotFound, 404)

	var events []string
	for e, err := range older.Watch(ctx, client.WatchOptions{Namespace: ns, ResourceVersion: version}) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "name in the watch", e.Identity.Name, key.Name)
		if message, _, _ := meta.Nested[string](e.Object, "message"); message != "a bowline" {
			t.Errorf("the message in the watch is %q", message)
		}
		if events = append(events, string(e.Type)); e.Type == client.Deleted {
			break
		}
	}
	equal(t, "events", strings.Join(events, " "), "ADDED MODIFIED DELETED")
	for name, l := range map[string]client.Resource[*meta.Unstructured]{"core": older, "events.k8s.io": newer} {
		if err := l.DeleteCollection(ctx, client.Selection{Namespace: ns, FieldSelector: "reason=Slipped"}, client.DeleteOptions{}); err != nil {
			t.Errorf("delete the rest in %s: %v", name, err)
		}
	}
	equal(t, "what is left", len(must[meta.List[*meta.Unstructured]](t)(newer.List(ctx, client.ListOptions{Namespace: ns, FieldSelector: "type=Warning"})).Items), 0)
}

func unstructured(t *testing.T, text, namespace string) *meta.Unstructured {
	t.Helper()
	u := new(meta.Unstructured)
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := meta.SetNested(u.Object, namespace, "metadata", "namespace"); err != nil {
		t.Fatal(err)
	}
	return u
}
