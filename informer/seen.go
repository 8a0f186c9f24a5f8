package informer

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	requests "github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/store"
)

// AfterWrite implements filler.Filler. Resources are compared without their versions: the objects of a resource have
// the same uids and resource versions in each version of its group.
func (i *engine[T]) AfterWrite(w requests.Write, f func(missed bool)) *store.Sight {
	if !i.concerns(w) {
		f(false)
		return &store.Sight{}
	}
	sight := i.store.AfterSeen(store.Write{
		Identity: meta.Identity{
			Namespace: w.Key.Namespace, Name: w.Key.Name, UID: w.UID, ResourceVersion: cmp.Or(w.ResourceVersion, w.DeletedAt),
		},
		Outside: w.DeletedAt != "" || i.leavesOut(w),
	}, func(missed bool) { f(missed && i.includes(w)) })
	// If the informer has ended by now, only this code can end the wait. If it ends after the next line, Store.EndWaits
	// does.
	if !i.follows(w) && sight.Stop() {
		f(false)
	}
	return sight
}

// concerns reports whether a write is to the informer's resource and server. A source that does not name its server is
// assumed to read from the server of the write.
func (i *engine[T]) concerns(w requests.Write) bool {
	if any(i.source) == nil {
		return false
	}
	of, server := i.source.GVR(), handle.Of(i.source).Server
	return of.Group == w.Resource.Group && of.Resource == w.Resource.Resource && (server == "" || server == w.Server)
}

// follows reports whether the informer runs and follows the namespace and the range of an object that was written.
func (i *engine[T]) follows(w requests.Write) bool {
	i.mu.Lock()
	running, shares := i.running, i.shares
	i.mu.Unlock()
	id := meta.Identity{Namespace: w.Key.Namespace, UID: w.UID}
	return running && i.covers(w.Key) == nil && (w.UID == "" || !shares.leavesOut(i.o.Shards, id))
}

// leavesOut reports whether the selectors certainly leave out an object in its written state. If that cannot be decided
// here, it returns false.
func (i *engine[T]) leavesOut(w requests.Write) bool {
	if i.o.LabelSelector == "" && i.o.FieldSelector == "" || w.Subresource != "" && w.Subresource != "status" {
		return false
	}
	labels, err := meta.ParseSelector(i.o.LabelSelector)
	if err != nil {
		return false
	}
	fields, err := meta.ParseFieldSelector(i.o.FieldSelector)
	if err != nil {
		return false
	}
	var obj meta.Raw
	if json.Unmarshal(w.Answer, &obj) != nil { // also if there is no answer
		return false
	}
	if !labels.Matches(obj.Labels) {
		return true
	}
	for _, t := range fields.Terms() {
		if value := scalar(&obj, t.Field); value != "" && (value == t.Value) == t.Differs {
			return true
		}
	}
	return false
}

// includes reports whether the cache certainly has an object in its written state, as long as it exists. leavesOut has
// returned false for the write.
func (i *engine[T]) includes(w requests.Write) bool {
	known := i.o.LabelSelector == "" || w.Answer != nil && (w.Subresource == "" || w.Subresource == "status")
	return known && i.o.FieldSelector == "" && !handle.Of(i.source).Filtered
}

// scalar returns the value that a field selector sees at the path of its field. It is empty if the object has no value
// there: the server may use a default, or a value from elsewhere.
func scalar(obj *meta.Raw, field string) string {
	value, _, _ := meta.Nested[any](obj, strings.Split(field, ".")...)
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}
