// Package debug shows what a program does to the person on call: caches, queues, controllers, leadership, shards,
// requests, credentials and events, and first of all what is wrong.
//
//	page, err := debug.Handler(debug.Options{Clients: []*client.Client{c}})
//	if err != nil { ... }
//	mux.Handle("/debug/bowline/", page)
//	ctx = page.Context(ctx) // what runs with it is shown
//	return group.Run(ctx)
//
// A [Page] is an http.Handler. It may be mounted at any path, with http.StripPrefix or without: its links are relative,
// and what to show is in the query.
//
// # Contents
//
//   - the first page: problems; each cache with its state, objects, memory, resource version, age of the last event,
//     and relists by cause; each controller with its queue; elections; the ranges of each shards.Group; requests in
//     flight and retries; the age and the end of credentials;
//   - ?cache=ID: the latest lists with their causes and times, undecodable objects with their errors, namespaces; with
//     informer.Options.Shards the ranges, and whether the server selects them; if [Options].Objects is set, a search
//     over the objects by namespace and name, and each object as JSON;
//   - ?controller=ID: the keys that fail, with their last error; those in progress, and since when; ready ones in their
//     order; delayed ones, and until when; whether it is paused; the groups of Controller.GroupBy, those with most keys
//     ready first;
//   - ?shards=ID: the ranges of this replica and since when, how many are its due by the weights, what it waits for,
//     which caches and controllers are not ready, its last loss of all ranges and why, and the other replicas with
//     their weights and ranges;
//   - ?events: the latest events, and those that come while the page is open.
//
// Each address answers with the same content as JSON if the request prefers it (Accept: application/json). Names of
// members may change until version 1.
//
// The memory of a cache is estimated: the page measures 200 of its objects, and counts what they share once. In tests
// the estimate is within a quarter of what the objects take. It does not know of indexes, and of text that keeps a
// longer text alive.
//
// # Who may see it
//
// Authorization is up to the program: [Options].Allow is asked before each answer, and without it everybody who reaches
// the handler sees the page. Even without Options.Objects the page has names of objects, texts of errors and addresses
// of servers. It changes nothing: it answers GET and HEAD only.
//
// The page has no content of credentials, and none of Secrets. Other objects may hold secrets, which Options.Redact can
// remove.
//
// A browser is told to run nothing but the page's own script, to show the page in no frame, and to keep no copy.
// Requests that other sites make, except links to the page, are refused, by Sec-Fetch-Site. A page that is reached over
// the loopback interface is answered for the hosts localhost and IP addresses only, so that no other site can read it
// by letting its own name point there (DNS rebinding). A proxy on the same machine that passes on the outer host needs
// [Options].Hosts, which should also be set for a page that has a name.
//
// # Cost
//
// The page holds no lock of a cache while it reads objects, and none at all while it writes an answer. Answers are
// bounded: a list that is longer than the page says how much is left out. The search goes through the keys of all
// objects, 25 ms for 100,000 on a busy machine. The page of a controller copies the keys of its queue, and the queue
// stops meanwhile, 0.1 s for a million keys.
//
// The program pays for each event, at most about a microsecond, and for the latest 500 events of each kind. Streams of
// events are bounded in number, and hold no events of their own: a client that reads too slowly is told how many it has
// missed, and one that takes nothing for 10 s is disconnected. A stream ends with the context of its request.
// http.Server.Shutdown does not end those contexts, so a program that shuts down gracefully sets
// http.Server.BaseContext, or calls Close.
//
// The page works without JavaScript. With it, the page stays current, "/" goes to the search, and "p" pauses.
package debug
