package conformance

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	tables "github.com/bowline-go/bowline/client/protobuf"
	apierrors "github.com/bowline-go/bowline/errors"
)

// RunShards is the part of the suite about shard selectors (KEP-5866), for a server that applies them. Nothing else
// may change the server's config maps while it runs. [Run] has the part for other servers.
func RunShards(t *testing.T, cfg client.Config) {
	s := newSuite(t, cfg)
	binary := cfg
	binary.Protobuf = tables.New(groupTables()...)
	for name, s := range map[string]suite{"as JSON": s, "as protobuf": newSuite(t, binary)} {
		t.Run("lists "+name, func(t *testing.T) { testShardsOfLists(t, s) })
		t.Run("watches "+name, func(t *testing.T) { testShardsOfWatches(t, s) })
	}
	t.Run("other lists", func(t *testing.T) { testShardsThatDoNotSay(t, s) })
	t.Run("a resource that the server does not cache", func(t *testing.T) { testShardsOfEvents(t, s) })
	t.Run("pages", func(t *testing.T) { testShardsOfPages(t, s) })
	t.Run("deletecollection", func(t *testing.T) { testShardsOfDeletions(t, s) })
	t.Run("malformed selectors", func(t *testing.T) { testShardSelectors(t, s) })
}

// shards returns ways to divide all objects into shards. Each way has every range once.
func shards() map[string][]meta.Ranges {
	all := map[string][]meta.Ranges{"all": {meta.AllRanges()}}
	for name, of := range map[string]func(n int) int{
		"halves": func(n int) int { return n / 128 }, "sixteenths": func(n int) int { return n / 16 },
		"every other range": func(n int) int { return n % 2 }, "the first and the last": func(n int) int { return min(n, 255-n, 1) },
	} {
		for n := range meta.RangeCount {
			for len(all[name]) <= of(n) {
				all[name] = append(all[name], meta.Ranges{})
			}
			all[name][of(n)] = all[name][of(n)].With(n)
		}
	}
	return all
}

// spread makes config maps in two namespaces, and returns the namespaces.
func (s suite) spread(t *testing.T) []string {
	t.Helper()
	namespaces := []string{s.namespace(t), s.namespace(t)}
	for _, ns := range namespaces {
		for _, name := range numbered("shard", 10) {
			s.configMap(t, ns, name, nil)
		}
	}
	return namespaces
}

// within returns the keys of the objects that are in some ranges, sorted.
func within[T meta.Object](objects []T, by meta.ShardBy, r meta.Ranges, id func(T) meta.Identity) []string {
	keys := []string{}
	for _, o := range objects {
		if r.Has(by.Range(id(o))) {
			keys = append(keys, meta.KeyOf(o).String())
		}
	}
	slices.Sort(keys)
	return keys
}

func idOf(c *ConfigMap) meta.Identity {
	return meta.Identity{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// everything returns the keys of all objects, sorted.
func everything[T meta.Object](objects []T) []string {
	return within(objects, meta.ShardByUID, meta.AllRanges(), func(o T) meta.Identity { return meta.Identity{} })
}

// Each object is in the one shard that Range says, however the list is asked for.
func testShardsOfLists(t *testing.T, s suite) {
	ns := s.spread(t)[0]
	whole := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{}))
	equal(t, "the selector of the whole list", whole.ShardInfo.Selector, "")
	used := map[meta.ShardBy]int{}
	for _, by := range []meta.ShardBy{meta.ShardByUID, meta.ShardByNamespace} {
		for name, parts := range shards() {
			var union []string
			for _, r := range parts {
				want := within(whole.Items, by, r, idOf)
				union = append(union, want...)
				for _, o := range []client.ListOptions{{}, {PageSize: 3}, {PageSize: -1}, {ResourceVersion: whole.ResourceVersion}, {ResourceVersion: "0"}} {
					o.ShardSelector = by.Selector(r)
					if o.ResourceVersion == "0" && !s.fresh(t, whole.ResourceVersion) {
						continue
					}
					list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), o))
					if got := everything(list.Items); !slices.Equal(got, want) {
						t.Errorf("%s by %s, ranges %v, %+v: the list has %v, want %v", name, by, r, o, got, want)
					}
					equal(t, "the selector that was applied", list.ShardInfo.Selector, o.ShardSelector)
				}
				if len(want) > 0 {
					used[by]++
				}
				// Other selectors select within the shard.
				here := client.ListOptions{Namespace: ns, FieldSelector: "metadata.name!=shard-003", ShardSelector: by.Selector(r), PageSize: 2}
				list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), here))
				want = slices.DeleteFunc(slices.Clone(want), func(key string) bool {
					return !strings.HasPrefix(key, ns+"/") || key == ns+"/shard-003"
				})
				if got := everything(list.Items); !slices.Equal(got, want) {
					t.Errorf("%s by %s, ranges %v in %s: the list has %v, want %v", name, by, r, ns, got, want)
				}
			}
			slices.Sort(union)
			if got := everything(whole.Items); !slices.Equal(got, union) {
				t.Errorf("%s by %s: all shards have %v, want %v", name, by, union, got)
			}
		}
	}
	if used[meta.ShardByUID] < 10 || used[meta.ShardByNamespace] < 5 {
		t.Errorf("only %v shards have objects", used)
	}
}

// fresh lists at a version, so that the server's cache has reached that version when fresh returns. It reports whether
// the list has a version.
func (s suite) fresh(t *testing.T, version string) bool {
	t.Helper()
	list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{ResourceVersion: version, PageSize: -1}))
	return list.ResourceVersion != ""
}

// A watch brings the events of its shard and no others, in order, and so does a streaming list.
func testShardsOfWatches(t *testing.T, s suite) {
	namespaces := s.spread(t)
	version := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{})).ResourceVersion
	for _, ns := range namespaces {
		for _, name := range numbered("shard", 10) {
			must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.Key{Namespace: ns, Name: name}, func(c *ConfigMap) error {
				c.Labels = map[string]string{"changed": "yes"}
				return nil
			}))
			s.configMap(t, ns, "late-"+name, nil)
			if err := s.configMaps.Delete(t.Context(), meta.Key{Namespace: ns, Name: name}, client.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{}))
	events := collect(t, s, client.WatchOptions{ResourceVersion: version}, 60)
	told := func(all []client.Event[*ConfigMap], by meta.ShardBy, r meta.Ranges) (seen []string) {
		for _, e := range all {
			if r.Has(by.Range(e.Identity)) {
				seen = append(seen, string(e.Type)+" "+e.Identity.Key().String()+" "+e.Identity.ResourceVersion)
			}
		}
		return seen
	}
	for _, by := range []meta.ShardBy{meta.ShardByUID, meta.ShardByNamespace} {
		for name, parts := range shards() {
			for _, r := range parts {
				if want := told(events, by, r); len(want) > 0 {
					got := told(collect(t, s, client.WatchOptions{ResourceVersion: version, ShardSelector: by.Selector(r)}, len(want)), by, meta.AllRanges())
					if !slices.Equal(got, want) {
						t.Errorf("%s by %s, ranges %v: the events are %v, want %v", name, by, r, got, want)
					}
				}
				want := within(whole.Items, by, r, idOf)
				initial := collect(t, s, client.WatchOptions{InitialEvents: true, ShardSelector: by.Selector(r)}, len(want)+1)
				got := []string{}
				for _, e := range initial[:len(want)] {
					got = append(got, e.Identity.Key().String())
				}
				slices.Sort(got)
				if end := initial[len(want)]; !slices.Equal(got, want) || !end.InitialEventsEnd {
					t.Errorf("%s by %s, ranges %v: the streaming list has %v, want %v; then comes %+v", name, by, r, got, want, end)
				}
			}
		}
	}
	// The events of another shard move the bookmarks of a watch that brings nothing.
	nothing := meta.AllRanges()
	for _, c := range whole.Items {
		nothing = nothing.Without(meta.ShardByNamespace.Range(idOf(c)))
	}
	o := client.WatchOptions{InitialEvents: true, ShardSelector: meta.ShardByNamespace.Selector(nothing), Timeout: 3 * time.Second}
	for n := range 20 { // a busy server may send no bookmark, as testBookmarks says
		begun := ""
		for e, err := range s.configMaps.Watch(t.Context(), o) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.InitialEventsEnd && begun == "":
				begun = e.Identity.ResourceVersion
				s.configMap(t, namespaces[0], numbered("elsewhere", n+1)[n], nil)
			case e.Type != client.Bookmark || e.InitialEventsEnd || e.Identity.ResourceVersion == begun:
				t.Errorf("a watch of a shard without objects brings %+v", e)
			default:
				return
			}
		}
	}
	t.Error("a watch of a shard without objects brings no bookmark")
}

// Lists of custom resources, of metadata and of tables are divided too, but do not name the selector.
func testShardsThatDoNotSay(t *testing.T, s suite) {
	ns := s.namespace(t)
	for _, name := range numbered("shard", 12) {
		s.configMap(t, ns, name, nil)
		s.widget(t, ns, name, `{}`)
	}
	c, by := s.client, meta.ShardByUID
	widgets, partial := client.For(c, Widgets), client.Metadata(s.configMaps)
	of := func(u *meta.Unstructured) meta.Identity { return meta.Identity{UID: u.GetUID()} }
	ofPartial := func(p *meta.Partial) meta.Identity { return meta.Identity{UID: p.UID} }
	whole := must[meta.List[*meta.Unstructured]](t)(widgets.List(t.Context(), client.ListOptions{Namespace: ns}))
	wholePartial := must[meta.List[*meta.Partial]](t)(partial.List(t.Context(), client.ListOptions{Namespace: ns}))
	for _, r := range shards()["halves"] {
		o := client.ListOptions{Namespace: ns, ShardSelector: by.Selector(r), PageSize: 2}
		list := must[meta.List[*meta.Unstructured]](t)(widgets.List(t.Context(), o))
		if got, want := everything(list.Items), within(whole.Items, by, r, of); !slices.Equal(got, want) {
			t.Errorf("custom resources in %v are %v, want %v", r, got, want)
		}
		equal(t, "the selector of custom resources", list.ShardInfo.Selector, "")

		p := must[meta.List[*meta.Partial]](t)(partial.List(t.Context(), o))
		want := within(wholePartial.Items, by, r, ofPartial)
		if got := everything(p.Items); !slices.Equal(got, want) {
			t.Errorf("metadata in %v is %v, want %v", r, got, want)
		}
		equal(t, "the selector of metadata", p.ShardInfo.Selector, "")

		said := ""
		o.OnPage = func(m meta.ListMeta) { said += m.ShardInfo.Selector }
		table := must[client.Table](t)(s.configMaps.Table(t.Context(), o, client.TableOptions{}))
		equal(t, "the rows of a table", len(table.Rows), len(want))
		equal(t, "the selector of a table", said, "")
	}
}

// A list of events names the selector, although it comes from etcd. Watches of events come from etcd too; Kubernetes
// 1.36 does not divide them.
func testShardsOfEvents(t *testing.T, s suite) {
	ns := s.namespace(t)
	records := client.For(s.client, CoreEvents)
	version := must[meta.List[*meta.Unstructured]](t)(records.List(t.Context(), client.ListOptions{Namespace: ns})).ResourceVersion
	for _, name := range numbered("shard", 24) {
		e := new(meta.Unstructured)
		text := `{"metadata":{"name":"` + name + `","namespace":"` + ns + `"},"involvedObject":{"kind":"ConfigMap","name":"x","namespace":"` + ns + `"}}`
		if err := json.Unmarshal([]byte(text), e); err != nil {
			t.Fatal(err)
		}
		must[*meta.Unstructured](t)(records.Create(t.Context(), e))
	}
	id := func(u *meta.Unstructured) meta.Identity { return meta.Identity{UID: u.GetUID()} }
	whole := must[meta.List[*meta.Unstructured]](t)(records.List(t.Context(), client.ListOptions{Namespace: ns}))
	for _, r := range shards()["halves"] {
		selector := meta.ShardByUID.Selector(r)
		want := within(whole.Items, meta.ShardByUID, r, id)
		list := must[meta.List[*meta.Unstructured]](t)(records.List(t.Context(), client.ListOptions{Namespace: ns, ShardSelector: selector, PageSize: 5}))
		if got := everything(list.Items); !slices.Equal(got, want) {
			t.Errorf("events in %v are %v, want %v", r, got, want)
		}
		equal(t, "the selector of events", list.ShardInfo.Selector, selector)
		if s.is136 {
			want = everything(whole.Items)
		}
		got := []string{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for e, err := range records.Watch(ctx, client.WatchOptions{Namespace: ns, ResourceVersion: version, ShardSelector: selector}) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, e.Identity.Key().String()); len(got) >= len(want) {
				break
			}
		}
		cancel()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("a watch of events in %v brings %v, want %v", r, got, want)
		}
	}
}

// A page has a continue token, with which a list can go on with any selector, but no count of the remaining objects.
func testShardsOfPages(t *testing.T, s suite) {
	ns := s.namespace(t)
	for _, name := range numbered("shard", 12) {
		s.configMap(t, ns, name, nil)
	}
	o := client.ListOptions{Namespace: ns, PageSize: 1, ShardSelector: meta.ShardByNamespace.Selector(meta.AllRanges())}
	pages := 0
	o.OnPage = func(m meta.ListMeta) {
		pages++
		equal(t, "the selector of a page", m.ShardInfo.Selector, o.ShardSelector)
		// Kubernetes 1.36 counts the objects of all shards.
		if counted := m.RemainingItemCount != nil; counted != (s.is136 && m.Continue != "") {
			t.Errorf("page %d counts what remains: %t", pages, counted)
		}
	}
	list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), o))
	equal(t, "objects", len(list.Items), 12)
	equal(t, "pages", pages, 12)
}

// A deletecollection has the parameter too, although its documentation does not mention it.
func testShardsOfDeletions(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	for _, name := range numbered("shard", 12) {
		s.configMap(t, ns, name, nil)
	}
	whole := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	halves := shards()["halves"]
	exchange{
		name: "delete a half", path: "DELETE {core}/configmaps?shardSelector=" + url.QueryEscape(meta.ShardByUID.Selector(halves[0])), code: 200,
	}.run(t, s, names)
	rest := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	if got, want := everything(rest.Items), within(whole.Items, meta.ShardByUID, halves[1], idOf); !slices.Equal(got, want) {
		t.Errorf("after the deletion of a half there are %v, want %v", got, want)
	}
}

// The server's words about selectors.
func testShardSelectors(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.configMap(t, ns, "a", nil)
	const uid, zero, end = meta.ShardByUID, "0x0000000000000000", "0x10000000000000000"
	term := func(field meta.ShardBy, start, end string) string {
		return "shardRange(" + string(field) + ", '" + start + "', '" + end + "')"
	}
	whole := term(uid, zero, end)
	list := "GET {core}/configmaps?shardSelector="
	for _, test := range []struct{ selector, want string }{
		{whole, whole},
		{" " + whole + "\n", whole},
		{"(" + whole + ")", whole},
		{whole + "||(" + whole + "||" + whole + ")", whole + " || " + whole + " || " + whole},
		{`shardRange ( object . metadata . uid,"` + zero + `" , "` + end + `" )`, whole},
		{"shardRange(object.metadata.uid, // all of\n'" + zero + "', '" + end + "')", whole},
		{"x.shardRange(object.metadata.uid, '" + zero + "', '" + end + "')", whole},
	} {
		e := applied("the selector "+test.selector, list+url.QueryEscape(test.selector), "", "", "metadata.shardInfo.selector", `"`+test.want+`"`)
		e.run(t, s, names)
	}
	const unsupported = `; supported: object.metadata.uid, object.metadata.namespace`
	const noCall = `; expected shardRange() call or || operator`
	for selector, message := range map[string]string{
		" ":                      "empty shard selector is not allowed; omit the parameter for unfiltered lists",
		term(uid, "0x0", end):    `hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)`,
		term(uid, zero, "0xf"):   `hexEnd must be a 0x-prefixed 16-digit hex value, got "0xf" (did you mean "0x000000000000000f"?)`,
		term(uid, zero, "0x"):    `hexEnd: hex value is required after '0x'`,
		term(uid, zero, ""):      `hexEnd must have '0x' prefix, got ""`,
		term(uid, "0X00", end):   `hexStart must have '0x' prefix, got "0X00"`,
		term(uid, zero, end+"0"): `hexEnd: hex value too long (18 chars, max 17): "100000000000000000"`,
		term(uid, "0xf000000000000000", "0x0f00000000000000"):   `shard range start 0xf000000000000000 must be less than end 0x0f00000000000000`,
		term(uid, zero, zero+"1"):                               `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x00000000000000001"`,
		term(uid, "0xF000", end):                                `hexStart: invalid hex character "F" in "0xF000"`,
		term(uid, "0xé", end):                                   `hexStart: invalid hex character "é" in "0xé"`,
		term(uid, zero, zero):                                   `shard range start 0x0000000000000000 must be less than end 0x0000000000000000`,
		term("metadata.uid", zero, end):                         `unsupported field path "metadata.uid"` + unsupported,
		term("object.metadata.name", zero, end):                 `unsupported field path "object.metadata.name"` + unsupported,
		term("'object.metadata.uid'", zero, end):                `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5`,
		term("f(x).uid", zero, end):                             `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1`,
		whole + " || " + term(meta.ShardByNamespace, zero, end): `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`,
		whole + " || " + whole + " || f(1)":                     `unsupported function "f"; only shardRange() and || are allowed`,
		"shardRange()":                                          `shardRange() requires exactly 3 arguments, got 0`,
		"shardRange(object.metadata.uid, '" + zero + "')":       `shardRange() requires exactly 3 arguments, got 2`,
		"shardRange(object.metadata.uid, 0, 1)":                 `hexStart must be a string literal, got int64`,
		"shardRange(object.metadata.uid, x, 1)":                 `hexStart must be a string literal (e.g. '0xff'), got expression kind 3`,
		"object.metadata.uid":                                   `unexpected expression kind 7` + noCall,
		"x":                                                     `unexpected expression kind 3` + noCall,
		whole + " || true":                                      `unexpected expression kind 5` + noCall,
		whole + " ||":                                           `CEL parse error: *`,
		whole + " " + whole:                                     `CEL parse error: *`,
		"shardRange(":                                           `CEL parse error: *`,
		"'":                                                     `CEL parse error: *`,
	} {
		message = "invalid shard selector: " + message
		query := "?shardSelector=" + url.QueryEscape(selector)
		for _, path := range []string{"{core}/configmaps", "{widgets}"} {
			refused("the selector "+selector, "GET "+path+query, "", "", 500, apierrors.InternalError, message).run(t, s, names)
		}
		refused("a watch with the selector "+selector, "GET {core}/configmaps"+query+"&watch=1", "", "", 500, apierrors.InternalError, message).run(t, s, names)
	}
	const bad = "shardSelector=x"
	const unexpected = "invalid shard selector: unexpected expression kind 3" + noCall
	for _, e := range []exchange{
		refused("a deletion", "DELETE {core}/configmaps?"+bad, "", "", 500, apierrors.InternalError, unexpected),
		refused("with a label selector that is none", list+"x&labelSelector=a+b", "", "", 400, apierrors.BadRequest, ""),
		refused("with a field that is none", list+"x&fieldSelector=spec.x=1", "", "", 400, apierrors.BadRequest, ""),
		refused("with a match", list+"x&resourceVersionMatch=Exact", "", "", 422, apierrors.Invalid, ""),
		refused("with a version that is none", list+"x&resourceVersion=x", "", "", 500, apierrors.InternalError, unexpected),
		refused("with a token that is none", list+"x&continue=x", "", "", 500, apierrors.InternalError, unexpected),
		refused("a watch with a version that is none", list+"x&watch=1&resourceVersion=x", "", "", 500, apierrors.InternalError, unexpected),
		refused("a streaming list", list+"x&watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan", "", "", 500, apierrors.InternalError, unexpected),
		applied("an object", "GET {core}/configmaps/a?"+bad, "", "", "metadata.name", `"a"`),
		applied("an empty selector", "GET {core}/configmaps?shardSelector=", "", "", "metadata.shardInfo", "null"),
	} {
		e.run(t, s, names)
	}
}

// A server without the feature ignores shard selectors, whatever they are.
func testIgnoredShards(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	s.configMap(t, ns, "b", nil)
	half := meta.ShardByNamespace.Selector(shards()["halves"][1-meta.ShardByNamespace.Range(meta.Identity{Namespace: ns})/128])
	for _, selector := range []string{half, "malformed"} {
		for _, size := range []int{0, 1} {
			list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, ShardSelector: selector, PageSize: size}))
			if len(list.Items) != 2 || list.ShardInfo.Selector != "" {
				t.Errorf("the list has %d objects, and applied the selector %q", len(list.Items), list.ShardInfo.Selector)
			}
		}
		for _, o := range []client.WatchOptions{{}, {InitialEvents: true}} {
			o.Namespace, o.ShardSelector = ns, selector
			got := describe(collect(t, s, o, 2))
			if slices.Sort(got); !slices.Equal(got, []string{"ADDED a", "ADDED b"}) {
				t.Errorf("a watch with %+v brings %v", o, got)
			}
		}
	}
}
