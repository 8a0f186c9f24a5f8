package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

// sharer is the first argument with which the test binary is one of several replicas that share the work on note objects. The second is
// a [sharerConfig] in JSON.
//
// It writes [sharerLine]s to its standard output, and reads commands from its standard input: "dump" asks what it has, and "leave" lets it
// leave the group, and end. It ends at once when the input ends, as its tests may be killed.
const sharer = "sharer"

type sharerConfig struct {
	Server    string
	Namespace string // of the leases
	Identity  string

	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	Workers                                   int
}

// note is a ConfigMap whose reconcile notes the state that it has seen, and who has.
type note struct {
	meta.Identity `json:"metadata"`
	Data          noteData `json:"data"`
}

type noteData struct {
	// State is what people change. Pause, if it is not empty, is how long the work on that takes; such work does not look at its context.
	State string `json:"state"`
	Pause string `json:"pause,omitempty"`
	// Noted is the state that a replica has seen, and By its identity. Asked is when it asked for this write, in nanoseconds.
	Noted string `json:"noted,omitempty"`
	By    string `json:"by,omitempty"`
	Asked string `json:"asked,omitempty"`
}

var notes = client.Type[*note]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// noteLabel is on all notes, and on nothing else.
const noteLabel = "e2e.bowline.example/note"

// sharerLine is what a replica says. Its moments are nanoseconds of the machine's clock.
type sharerLine struct {
	Event string // one of those below

	// "work", at the end of a reconcile, and "pause", in the middle of a long one.
	Key          meta.Key    `json:",omitzero"`
	UID          string      `json:",omitempty"`
	Range        int         `json:",omitempty"`
	Noted        string      `json:",omitempty"` // the state that the object has now, and was seen
	Paused       bool        `json:",omitempty"` // before the write
	Began, Ended int64       `json:",omitempty"`
	Err          string      `json:",omitempty"`
	At           int64       `json:",omitempty"`
	Gained       meta.Ranges `json:",omitzero"` // "ranges", when it has begun or given up work on some
	Lost         meta.Ranges `json:",omitzero"`
	Ranges       meta.Ranges `json:",omitzero"`  // "ready", when its caches are filled, "ranges" and "dump": all of them
	Objects      int         `json:",omitempty"` // "dump": what is in the cache, and how much of that is outside of the ranges
	Outside      int         `json:",omitempty"`
	Synced       bool        `json:",omitempty"`
	Sharded      string      `json:",omitempty"`
}

// playSharer is the replica.
func playSharer(config string) error {
	var o sharerConfig
	if err := json.Unmarshal([]byte(config), &o); err != nil {
		return err
	}
	c, err := client.New(client.Config{Server: o.Server, UserAgent: o.Identity})
	if err != nil {
		return err
	}
	defer c.Close()
	r := &sharing{config: o}
	r.notes = client.For(c, notes)
	r.group = shards.New(c, shards.Options{
		Namespace: o.Namespace, Name: "notes", Identity: o.Identity,
		LeaseDuration: o.LeaseDuration, RenewDeadline: o.RenewDeadline, RetryPeriod: o.RetryPeriod,
		Hooks: shards.Hooks{Changed: r.changed}, OnError: r.failed,
	})
	share := prepared{r.group, r} // the same for both
	r.cache = informer.New(r.notes, informer.Options{
		Shards: share, LabelSelector: noteLabel, AllowEarlyReads: true, OnError: r.failed,
	})
	ctl := controller.New("notes", controller.Options{
		Shards: share, Workers: o.Workers,
		OnError: func(error) {}, // reconciles say them
	}, r.reconcile, controller.Watch(r.cache))

	ctx, leave := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	defer leave()
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			switch lines.Text() {
			case "dump":
				r.dump()
			case "leave":
				leave()
			}
		}
		os.Exit(1) // which also ends this goroutine otherwise
	}()
	return r.group.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, ctl) })
}

// sharing is the state of the replica.
type sharing struct {
	config sharerConfig
	notes  client.Resource[*note]
	group  *shards.Group
	cache  *informer.Informer[*note]

	mu sync.Mutex // guards the output
}

func (r *sharing) say(l sharerLine) {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = os.Stdout.Write(append(text, '\n')) // one write, so that a line is whole or missing
}

func (r *sharing) failed(err error) { r.say(sharerLine{Event: "failure", Err: err.Error()}) }

// changed says which ranges the replica has gained and lost. The hook is called late, and the status has the moment.
func (r *sharing) changed(_ context.Context, i shards.ChangedInfo) {
	l := sharerLine{Event: "ranges", Gained: i.Gained, Lost: i.Lost, Ranges: i.Ranges, At: r.group.Status().Since.UnixNano()}
	if i.Err != nil {
		l.Err = i.Err.Error()
	}
	r.say(l)
}

// reconcile notes the state of an object, in one request, which fails unless the object is as it was seen.
func (r *sharing) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	began := time.Now().UnixNano()
	obj, ok := r.cache.Reader().Get(key)
	if !ok {
		return controller.Result{}, nil // its uid, which tells the range, is not known any more
	}
	l := sharerLine{Event: "work", Key: key, UID: obj.UID, Range: meta.ShardByUID.Range(obj.Identity), Noted: obj.Data.State, Began: began}
	paused, err := r.write(ctx, obj)
	l.Paused = paused
	if err != nil {
		l.Noted, l.Err = "", err.Error()
	}
	l.Ended = time.Now().UnixNano()
	r.say(l)
	return controller.Result{}, err
}

// write notes the state of an object, unless this replica has, and says whether it has paused before.
func (r *sharing) write(ctx context.Context, obj *note) (paused bool, err error) {
	if obj.Data.Noted == obj.Data.State && obj.Data.By == r.config.Identity {
		return false, nil
	}
	if pause, err := time.ParseDuration(obj.Data.Pause); err == nil {
		paused = true
		r.say(sharerLine{Event: "pause", Key: obj.Key(), UID: obj.UID})
		<-time.After(pause)
	}
	_, err = r.notes.Patch(ctx, obj.Key(), patch.Merge(map[string]any{
		"metadata": map[string]any{"uid": obj.UID, "resourceVersion": obj.ResourceVersion},
		"data": map[string]any{
			"noted": obj.Data.State, "by": r.config.Identity, "asked": strconv.FormatInt(time.Now().UnixNano(), 10), "pause": nil,
		},
	}))
	return paused, err
}

// dump says what the cache holds.
func (r *sharing) dump() {
	status := r.cache.Status()
	l := sharerLine{Event: "dump", Ranges: r.group.Status().Ranges, Synced: status.Synced, Sharded: string(status.Sharded)}
	for obj := range r.cache.Reader().All() {
		l.Objects++
		if !l.Ranges.Has(meta.ShardByUID.Range(obj.Identity)) {
			l.Outside++
		}
	}
	r.say(l)
}

// prepared is a Group that says when an informer is ready for ranges.
type prepared struct {
	*shards.Group
	r *sharing
}

func (p prepared) Follow(name string) informer.Follower {
	f := p.Group.Follow(name)
	if strings.HasPrefix(name, "controller") {
		return f
	}
	return preparing{f, p.r}
}

type preparing struct {
	informer.Follower
	r *sharing
}

func (p preparing) Have(ranges meta.Ranges) {
	p.r.say(sharerLine{Event: "ready", Ranges: ranges, At: time.Now().UnixNano()})
	p.Follower.Have(ranges)
}
