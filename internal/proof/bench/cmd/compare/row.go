package main

// The rows of the table: what is measured for each, with which settings, and Bowline's targets.

import (
	"fmt"
	"math"
	"slices"

	"github.com/bowline-go/bowline/internal/proof/bench/managed"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// row is a row of the table. It has a line for each figure.
type row struct {
	name, title string
	job         string
	figures     []figure // the first one decides between settings
	why         string   // an explanation of the figures, if known; printed under the table
	against     string   // the setting of the other side; the best one if empty
}

// figure is one measurement of a job.
type figure struct {
	name, key string
	unit      func(float64) string
	higher    bool // more is better
	target    target
}

// target is Bowline's target; the zero value means no target.
type target struct {
	text    string
	reached func(clientgo, bowline float64) bool
}

// times is the target of a figure that is n times as good as client-go's.
func times(n float64, text string) target {
	return target{text, func(c, b float64) bool { return c >= n*b }}
}

func timesMore(n float64, text string) target {
	return target{text, func(c, b float64) bool { return b >= n*c }}
}

// atMost is a target that does not depend on client-go's figure.
func atMost(limit float64, text string) target {
	return target{text, func(_, b float64) bool { return b <= limit }}
}

var (
	half  = times(2, "at most 1/2")
	none  = atMost(0, "0")
	third = times(3, "at most 1/3")
)

var rows = []row{
	{"sync", "first sync, JSON, same type", "sync", []figure{
		{"wall", "wall", duration, false, times(6, "6 times faster")},
		{"CPU", "cpu", duration, false, third},
	}, "", ""},
	{"projection", "first sync, JSON, 6 fields", "project", []figure{
		{"wall", "wall", duration, false, times(8, "8 times faster")},
		{"CPU", "cpu", duration, false, target{}},
		{"live heap an object", "object", bytes, false, atMost(800, "at most 800 B")},
		{"peak RSS", "peak", bytes, false, times(10, "at most 1/10")},
	}, "", ""},
	{"heap", "live heap, same type, no managedFields", "sync", []figure{
		{"an object", "object", bytes, false, target{"lower", func(c, b float64) bool { return b < c }}},
	}, "the structs are the same, so the difference is in what they refer to: objects of Bowline's cache share parts whose text is " +
		"the same (internal/codec/parts.go), and strings; its slices have less room to spare", ""},
	{"peak", "peak over steady memory, same type", "relist", []figure{
		{"first sync", "peak first", ratio, false, atMost(1.25, "at most 1.25")},
		{"forced relist", "peak relist", ratio, false, atMost(1.25, "at most 1.25")},
		{"steady RSS", "steady", bytes, false, target{}},
	}, "", ""},
	{"relist", "relist, nothing changed", "relist", []figure{
		{"CPU over the first list's", "cpu share", ratio, false, atMost(0.2, "at most 1/5")},
		{"CPU", "cpu relist", duration, false, target{}},
		{"handler calls", "calls", count, false, none},
	}, "", ""},
	{"watch", "watch, JSON, same type", "watch", []figure{
		{"events a second", "rate", count, true, timesMore(5, "5 times as many")},
		{"CPU an event", "cpu", duration, false, target{}},
		{"allocations an event", "allocs", count, false, times(5, "at most 1/5")},
		{"handler calls", "calls", count, true, target{}},
	}, "", ""},
	{"sync-1", "first sync, JSON, same type, one pod of each workload", "sync/pods-1", syncFigures(), "", ""},
	{"sync-20", "first sync, JSON, same type, 20 pods of each workload", "sync/pods-20", syncFigures(), "", ""},
	{"sync-1000", "first sync, JSON, same type, 1,000 pods of each workload", "sync/pods-1000", syncFigures(), "", ""},
	{"sync-unique", "first sync, JSON, same type, pods that have no part in common", "sync/pods-unique", syncFigures(), "", ""},
	{"sync-real", "first sync, JSON, same type, pods as a cluster has them", "sync/pods-real", syncFigures(), "", ""},
	{"sync-real-protobuf", "first sync, protobuf, same type, pods as a cluster has them", "sync-protobuf/pods-real", syncFigures(), "", ""},
	{"sync-compact", "first sync, JSON, same type, a compact cache, pods as a cluster has them", "sync-compact/pods-real", compactFigures(), "", ""},
	{"sync-compact-protobuf", "the same, protobuf", "sync-compact-protobuf/pods-real", compactFigures(), "", ""},
	{"sync-deployments", "first sync, JSON, deployments", "sync-deployments/deployments", syncFigures(), "", ""},
	{"sync-secrets", "first sync, JSON, secrets of 32 kB, a tenth as many", "sync-secrets/secrets", syncFigures(), "", ""},
	{"sync-custom", "first sync, JSON, custom resources without a Go type", "sync-custom/custom", syncFigures(), "", ""},
	{"sync-protobuf", "first sync, protobuf, same type", "sync-protobuf", []figure{
		{"wall", "wall", duration, false, times(2.5, "2.5 times faster")},
		{"CPU", "cpu", duration, false, third},
		{"live heap an object", "object", bytes, false, target{}},
		{"peak RSS", "peak", bytes, false, target{}},
	}, "", ""},
	{"projection-protobuf", "first sync, protobuf, 6 fields", "project-protobuf", []figure{
		{"wall", "wall", duration, false, target{}},
		{"CPU", "cpu", duration, false, times(10, "at most 1/10")},
		{"live heap an object", "object", bytes, false, target{}},
		{"peak RSS", "peak", bytes, false, target{}},
	}, "", ""},
	{"watch-protobuf", "watch, protobuf, same type", "watch-protobuf", watchFigures(2.5), "", ""},
	{"watch-projection", "watch, protobuf, 6 fields", "watch-projection", watchFigures(8), "", ""},
	{"slow", "one slow subscriber", "slow", []figure{
		{"heap growth", "growth", bytes, false, target{"less than 5 MB", func(_, b float64) bool { return b < 5e6 }}},
		{"final states that arrive", "final", count, true, target{"all", func(c, b float64) bool { return b >= c }}},
		{"handler calls", "calls", count, false, target{}},
	}, "", ""},
	{"micro", "cache", "micro", []figure{
		{"Get in parallel, by namespace and name", "get ns", nanoseconds, false, half},
		{"its allocations", "get allocs", count, false, none},
		{"Get, a key at hand", "get by key ns", nanoseconds, false, target{}},
		{"its allocations", "get by key allocs", count, false, target{}},
		{"Update, 2 indexes", "update ns", nanoseconds, false, half},
		{"its allocations", "update allocs", count, false, target{}},
		{"index lookup of 100", "lookup ns", nanoseconds, false, half},
		{"its allocations", "lookup allocs", count, false, none},
		{"Replace, 2 indexes", "replace ns", nanoseconds, false, half},
		{"its allocations", "replace allocs", count, false, target{}},
	}, "", ""},
	{"get", "Get by one goroutine, keys at hand in random order", "get", getFigures(), "", ""},
	{"contention", "readers list while a writer writes", "contention", []figure{
		{"write p99", "p99", duration, false, times(4, "at most 1/4")},
		{"write p50", "p50", duration, false, target{}},
		{"write p999", "p999", duration, false, target{}},
		{"the longest write", "max", duration, false, target{}},
		{"writes a second", "writes", count, true, target{}},
		{"lists a second", "lists", count, true, target{}},
	}, "", ""},
	{"patch", "patch of a pod of 7 KB", "patch", patchFigures(), "", ""},
	{"queue", "work queue", "work", queueFigures("wall"), "", "rate limiting"},
	{"queue-cpu", "work queue, CPU time", "work", queueFigures("cpu"), "", "rate limiting"},
	{"queue-plain", "work queue, CPU time, next to one without delays and retries", "work", queueFigures("cpu"), "", "plain"},
	{"queue-priority", "work queue with priorities, next to controller-runtime's", "priorities", []figure{
		{"add 100,000 keys of five priorities: CPU a key", "add  cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"get and done, 1 worker: CPU a key", "do  by 1 cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"both at once: CPU a key", "both  by 1 cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"both at once: wall", "both  by 1 wall", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"both at once: allocations a key", "both  by 1 allocs", count, false, target{}},
	}, "", ""},
	{"queue-groups", "work queue with namespaces as groups, next to client-go's rate limiting one", "groups", []figure{
		{"10 keys beside 100,000 of another namespace: done after", "few wall", nanoseconds, false, times(100, "100 times sooner")},
		{"add 100,000 keys of 100 namespaces: CPU a key", "add  cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"get and done, 4 workers: CPU a key", "do  by 4 cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"both at once: CPU a key", "both  by 4 cpu", nanoseconds, false, times(1.5, "1.5 times faster")},
		{"both at once: allocations a key", "both  by 4 allocs", count, false, target{}},
	}, "client-go's queue has no groups: it hands keys out in the order in which they came", ""},
	{"controller", "no-op controller, 6 fields, next to controller-runtime's of *corev1.Pod", "controller", controllerFigures(), "", ""},
	{
		"controller-typed", "no-op controller, same type, next to controller-runtime's", "controller-typed", controllerFigures(),
		"the cached objects are the same and take about 180 MB, which a peak cannot go below on either side", "",
	},
	{"failover", "release of a lease until the other contender leads, default durations", "failover", []figure{
		{"median", "median", duration, false, target{}},
		{"longest", "longest", duration, false, target{}},
	}, "client-go's contender looks at the lease every 2 to 4.4 s; Bowline's watches it", ""},
	{
		"own-write", "write and read it from a cache that is 100 ms behind, next to controller-runtime's", "own-write", ownWriteFigures(),
		"controller-runtime's read blocks the worker until the cache has the write; with Bowline the key waits aside, and the " +
			"worker does other keys", "",
	},
	{"manager", "the same manager, NewCache: ctrlcache.New next to its own cache, JSON", "manager", managerFigures(), "", ""},
	{"manager-protobuf", "the same manager, its defaults", "manager-protobuf", managerFigures(), "", ""},
	{"manager-real", "the same manager, pods as a cluster has them, JSON", "manager/pods-real", managerFigures(), "", ""},
	{"manager-real-protobuf", "the same manager, pods as a cluster has them, its defaults", "manager-protobuf/pods-real", managerFigures(), "", ""},
	{"manager-compact", "the same manager, Compact, pods as a cluster has them, JSON", "manager-compact/pods-real", compactFigures(), "", ""},
	{"manager-compact-protobuf", "the same, its defaults", "manager-compact-protobuf/pods-real", compactFigures(), "", ""},
	{"manager-watch", "the same manager, events, JSON", "manager-watch", watchFigures(3), "", ""},
	{"manager-watch-protobuf", "the same manager, events, its defaults", "manager-watch-protobuf", watchFigures(3), "", ""},
	{"manager-fields", "the same manager, which reads two fields: Fields next to whole pods, JSON", "manager-fields", managerFigures(), "", managed.Whole},
	{"manager-fields-protobuf", "the same, its defaults", "manager-fields-protobuf", managerFigures(), "", managed.Whole},
	{"manager-fields-watch", "the same, events, JSON", "manager-fields-watch", watchFigures(3), "", managed.Whole},
	{"manager-fields-watch-protobuf", "the same, events, its defaults", "manager-fields-watch-protobuf", watchFigures(3), "", managed.Whole},
	{"manager-read", "reads from the cache of a manager", "manager-read", []figure{
		{"List by a label", "list ns", nanoseconds, false, times(1, "not slower")},
		{"its allocations", "list allocs", count, false, target{}},
		{"List by a label, UnsafeDisableDeepCopy", "list shared ns", nanoseconds, false, times(1, "not slower")},
		{"Get", "get ns", nanoseconds, false, times(1, "not slower")},
		{"its allocations", "get allocs", count, false, target{}},
		{"Get, UnsafeDisableDeepCopy", "get shared ns", nanoseconds, false, times(1, "not slower")},
	}, "", ""},
	{"exec", "a command in a container", "exec", []figure{
		{"its output, GB a second", "stdout", ratio, true, timesMore(1, "not slower")},
		{"CPU for 1 GB", "stdout cpu", duration, false, times(1, "not more")},
		{"its input, GB a second", "stdin", ratio, true, timesMore(1, "not slower")},
		{"CPU for 1 GB", "stdin cpu", duration, false, times(1, "not more")},
		{"the first byte, after", "first", duration, false, times(1, "not later")},
	}, "", ""},
	{"exec-idle", "200 commands that wait", "exec-idle", []figure{
		{"live heap of one", "heap", bytes, false, half},
		{"resident memory of one", "memory", bytes, false, half},
		{"goroutines of one", "goroutines", count, false, target{}},
	}, "", ""},
	{"hello", "hello (list pods)", "hello", []figure{
		{"linked modules", "modules", count, false, atMost(10, "at most 10")},
		{"stripped binary", "binary", bytes, false, atMost(9e6, "at most 9 MB")},
		{"cold build", "build", duration, false, atMost(20, "at most 20 s")},
	}, "", ""},
}

// getFigures are those of the job get.
func getFigures() (all []figure) {
	for i, n := range full.Found {
		all = append(all, figure{count(float64(n)) + " objects", fmt.Sprintf("get %d ns", i), nanoseconds, false, times(1, "not slower")})
	}
	return all
}

// queueFigures are the figures of the job work. what is "wall" or "cpu".
func queueFigures(what string) []figure {
	faster := times(1.5, "1.5 times faster")
	var adds, dos, both, allocs []figure
	for i, n := range full.QueueKeys {
		keys := count(float64(n)) + " keys"
		adds = append(adds, figure{"add, " + keys, fmt.Sprintf("add %d %s", i, what), nanoseconds, false, faster})
		for _, w := range sample.QueueWorkers {
			name := fmt.Sprintf("%s, %d workers", keys, w)
			dos = append(dos, figure{"get and done, " + name, fmt.Sprintf("do %d by %d %s", i, w, what), nanoseconds, false, faster})
			both = append(both, figure{"both at once, " + name, fmt.Sprintf("both %d by %d %s", i, w, what), nanoseconds, false, faster})
		}
		allocs = append(allocs, figure{"allocations of both, " + keys, fmt.Sprintf("both %d by 1 allocs", i), count, false, atMost(0.01, "0")})
	}
	return slices.Concat(adds, dos, both, allocs)
}

// watchFigures are those of a watch whose target is n times as many events.
func watchFigures(n float64) []figure {
	return []figure{
		{"events a second", "rate", count, true, timesMore(n, fmt.Sprintf("%v times as many", n))},
		{"CPU an event", "cpu", duration, false, target{}},
		{"allocations an event", "allocs", count, false, target{}},
		{"handler calls", "calls", count, true, target{}},
	}
}

// managerFigures are those of the first sync of a manager's cache.
func managerFigures() []figure {
	return []figure{
		{"wall", "wall", duration, false, times(3, "3 times faster")},
		{"CPU", "cpu", duration, false, times(3, "at most 1/3")},
		{"live heap an object", "object", bytes, false, times(1, "not more")},
		{"peak RSS", "peak", bytes, false, times(3, "at most 1/3")},
		{"steady RSS", "steady", bytes, false, times(5, "a fifth")},
	}
}

// syncFigures are those of a first sync, without targets.
func syncFigures() []figure {
	return []figure{
		{"wall", "wall", duration, false, target{}},
		{"CPU", "cpu", duration, false, target{}},
		{"live heap an object", "object", bytes, false, target{}},
		{"peak RSS", "peak", bytes, false, target{}},
	}
}

// compactFigures are those of a first sync into a compact cache.
func compactFigures() []figure {
	return []figure{
		{"wall", "wall", duration, false, target{}},
		{"CPU", "cpu", duration, false, target{}},
		{"live heap an object", "object", bytes, false, atMost(700, "at most 700 B")},
		{"peak RSS", "peak", bytes, false, target{}},
		{"steady RSS", "steady", bytes, false, times(5, "a fifth")},
	}
}

// controllerFigures are the figures from the start of a controller until each object is reconciled once.
func controllerFigures() []figure {
	return []figure{
		{"wall", "wall", duration, false, times(4, "4 times faster")},
		{"CPU", "cpu", duration, false, times(4, "at most 1/4")},
		{"peak RSS", "peak", bytes, false, times(4, "at most 1/4")},
	}
}

// ownWriteFigures are the rates of a controller that reads its own writes.
func ownWriteFigures() []figure {
	var all []figure
	for _, w := range sample.WriterWorkers {
		all = append(all, figure{fmt.Sprintf("objects a second, workers: %d", w), fmt.Sprintf("by %d", w), rounded, true, target{}})
	}
	return all
}

func patchFigures() []figure {
	var all []figure
	for _, o := range []struct{ name, key string }{
		{"apply a JSON patch", "apply json"},
		{"apply a merge patch", "apply merge"},
		{"apply a strategic merge patch", "apply strategic"},
		{"difference as JSON patch", "diff json"},
		{"difference as merge patch", "diff merge"},
		{"difference as strategic merge patch", "diff strategic"},
		{"three-way merge", "three-way"},
	} {
		all = append(all, figure{o.name + ": CPU", o.key + " cpu", duration, false, half},
			figure{"its allocations", o.key + " allocs", rounded, false, half},
			figure{"their size", o.key + " bytes", kilobytes, false, half})
	}
	return all
}

func duration(seconds float64) string { return nanoseconds(seconds * 1e9) }

func nanoseconds(ns float64) string {
	switch {
	case ns >= 1e9:
		return digits(ns/1e9) + " s"
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e3:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

func bytes(n float64) string {
	if n < 1e5 && n > -1e5 {
		return count(n) + " B"
	}
	return report.Megabytes(n)
}

func kilobytes(n float64) string { return digits(n/1e3) + " kB" }

func rounded(n float64) string { return count(math.Round(n)) }

func ratio(n float64) string { return fmt.Sprintf("%.2f", n) }

// digits returns n with three digits, or as a whole number if that has more.
func digits(n float64) string {
	switch {
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

// count returns n rounded to a whole number, with commas. If n is less than 100 and not whole, it has one decimal.
func count(n float64) string {
	if n != float64(int64(n)) && n < 100 {
		return fmt.Sprintf("%.1f", n)
	}
	text := fmt.Sprintf("%.0f", n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(text) - 3; i > first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
