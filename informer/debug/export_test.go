package debug

import (
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Redacted redacts a Secret, and reports whether content is one.
func Redacted(resource meta.GVR, content map[string]any) bool {
	if !isSecret(resource, content) {
		return false
	}
	redactSecret(content)
	return true
}

// JSON returns an object as its page shows it.
func JSON(v map[string]any) string { return indented(v) }

// Weigh returns the estimate of the memory of a cache of objects.
func Weigh(r informer.RunInfo, objects int) int64 { return weigh(r, objects) }

// Short, Size and Grouped are texts for people.
var (
	Short   = short
	Size    = size
	Grouped = grouped
)

// RunInfo returns what the page knows of its first informer.
func RunInfo(p *Page) informer.RunInfo { return p.caches.snapshot()[0].info }

// Add notes an event of a watch.
func Add(p *Page, key string) {
	p.events.add(event{Kind: ofWatch, What: "modified", In: "configmaps.v1", Key: key, Text: "version 1234567"})
}

// Bound sets how many events of each kind p keeps, and how many streams may be open at once, before it is used.
func Bound(p *Page, events, streams int) {
	p.events, p.streams = newEvents(events), make(chan struct{}, streams)
}
