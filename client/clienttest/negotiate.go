package clienttest

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// negotiate picks the first form in the Accept header that the server supports. Metadata alone must be requested as a
// list if the answer is a list, and as an object otherwise.
func (c *call) negotiate(list bool) error {
	all, known := wishes(c.r, c.res.Builtin)
	if len(all) == 0 || !known && c.res.Builtin {
		return c.notAcceptable(known)
	}
	first := all[0]
	if first.media == mediaYAML && c.Verb == "watch" {
		return refuseMedia("only the following media types are accepted: %s", streamed)
	}
	c.form, c.formVersion, c.media, c.drop = first.form, first.version, first.media, first.drop && c.options.DropManagedFields
	if held, ok := c.w.(*heldWriter); ok {
		held.media = first.media
	}
	if first.form == asMetadata && first.list != list && c.Verb != "watch" {
		as, what := "PartialObjectMetadata", "a list"
		if first.list {
			as, what = "PartialObjectMetadataList", "not a list"
		}
		return refuseMedia("you requested %s, but the requested object is %s", as, what)
	}
	return nil
}

func refuseMedia(format string, args ...any) *status.Error {
	return status.Failure(http.StatusNotAcceptable, "NotAcceptable", format, args...)
}

// shown returns an object as the client wants to see it: without managedFields if the client has asked for that.
func (c *call) shown(v *object.Revision) *object.Revision {
	if !c.drop {
		return v
	}
	d := v.Draft()
	if d.Meta.ManagedFields == nil {
		return v
	}
	d.Meta.ManagedFields = nil
	return d.Revision(&c.res.Type, v.Version)
}

// notAcceptable returns the error for an Accept header without a supported form. A real server uses other words if it
// does not know the media type at all and the kind is compiled in.
func (c *call) notAcceptable(known bool) error {
	media := strings.Join([]string{mediaJSON, mediaYAML, mediaProtobuf}, ", ")
	if !known && c.res.Builtin {
		if c.collects() {
			media += ", " + streamed
		}
		return refuseMedia("406: Not Acceptable\n\nAvailable representations: %s", media).With(meta.StatusDetails{})
	}
	return refuseMedia("only the following media types are accepted: %s", media)
}

// streamed are the media types in which a real server sends the events of a watch.
const streamed = mediaJSON + ";stream=watch, " + messages.StreamType

// metaVersion returns the group and version of metadata alone, or of a Table.
func (c *call) metaVersion() string { return metaGroup + "/" + cmp.Or(c.formVersion, "v1") }

// partialStart returns the start of an object that has only metadata.
func (c *call) partialStart() string {
	return `{"kind":"PartialObjectMetadata","apiVersion":"` + c.metaVersion() + `","metadata":`
}
