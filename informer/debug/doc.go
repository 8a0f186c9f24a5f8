// Package debug shows the person on call what a program does: caches, queues, controllers, leadership, shards,
// requests, credentials and events, with problems first.
//
//	page, err := debug.Handler(debug.Options{Clients: []*client.Client{c}})
//	if err != nil { ... }
//	mux.Handle("/debug/bowline/", page)
//	ctx = page.Context(ctx) // the page shows what runs with it
//	return group.Run(ctx)
//
// A [Page] is an http.Handler. It may be mounted at any path, with http.StripPrefix or without: its links are relative,
// and the query says what to show.
//
// # Contents
//
//   - the first page: problems; each cache with its state, objects, memory, resource version, age of the last event,
//     and relists by cause; each controller with its queue; elections; the ranges of each shards.Group; requests in
//     flight and retries; the age and the end of credentials; the versions of the program, of Bowline and of Go;
//   - ?cache=ID: the latest lists with their causes and times, undecodable objects with their errors, namespaces; with
//     informer.Options.Shards the ranges, and whether the server selects them; if [Options].Objects is set, a search
//     over the objects by namespace and name, and each object as JSON;
//   - ?controller=ID: the keys that fail, with their last error; keys in progress, and since when; ready keys in their
//     order; delayed keys, and until when; whether the controller is paused; the groups of Controller.GroupBy, those
//     with the most ready keys first;
//   - ?shards=ID: the ranges of this replica and since when, how many ranges it should have by the weights, which
//     ranges it waits for, which caches and controllers are not ready, its last loss of all ranges and why, and the
//     other replicas with their weights and ranges;
//   - ?events: the latest events, and new ones while the page is open.
//
// Each address answers with the same content as JSON if the request prefers it (Accept: application/json). Names of
// members may change until version 1.
//
// The memory of a cache is estimated: the page measures 200 of its objects, and counts shared memory once. In tests the
// estimate is within a quarter of the real size of the objects. It leaves out indexes. If an object keeps a longer
// text alive by referring to a part of it, the estimate counts only that part.
//
// # Who may see it
//
// Authorization is up to the program: the page calls [Options].Allow before each answer. Without it, everyone who
// reaches the handler sees the page. Even without Options.Objects the page has names of objects, texts of errors and
// addresses of servers. It changes nothing: it answers GET and HEAD only.
//
// The page never shows the content of credentials or of Secrets. Other objects may hold secrets, which Options.Redact
// can remove.
//
// The page tells browsers to run only its own script, to show it in no frame, and to keep no copy. It refuses requests
// from other sites, except links, by Sec-Fetch-Site. Over the loopback interface it answers only for the host localhost
// and for IP addresses, so that no other site can read it by making its own name point there (DNS rebinding). If a
// proxy on the same machine passes on the outer host, set [Options].Hosts. Set it too for a page that browsers reach by
// a name.
//
// # Cost
//
// The page holds no lock of a cache while it reads objects, and none at all while it writes an answer. Answers are
// bounded: if a list is cut, the page says how many entries are left out. The search reads the keys of all objects, 25
// ms for 100,000 on a busy machine. The page of a controller copies the keys of its queue. That blocks the queue, for
// 0.1 s with a million keys.
//
// Each event costs the program at most about a microsecond, and the page keeps the latest 500 events of each kind in
// memory. Streams of events are bounded in number, and buffer no events: a client that reads too slowly is told how
// many it has missed, and a client that reads nothing for 10 s is disconnected. A stream ends with the context of its
// request. http.Server.Shutdown does not end those contexts, so a program that shuts down gracefully sets
// http.Server.BaseContext, or calls Close.
//
// The page works without JavaScript. With it, the page stays current, "/" goes to the search, and "p" pauses.
package debug
