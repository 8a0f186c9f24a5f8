package clienttest

import (
	"cmp"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = messages.MediaType
	metaGroup     = "meta.k8s.io"
)

// form is the form of objects that a client asks for.
type form int

const (
	asObject form = iota
	asMetadata
	asTable
)

// wish is one form of answer that a client accepts, from its Accept header.
type wish struct {
	media   string // mediaJSON, mediaYAML or mediaProtobuf
	form    form
	list    bool   // of metadata: as a list
	version string // of the group of the form
	drop    bool   // without managedFields
}

// wishes returns the forms in the Accept header that the server supports for a compiled-in kind or another one, in the client's
// order of preference. known says whether the header names a media type that a real server has for the compiled-in kinds, in any
// form.
func wishes(r *http.Request, builtin bool) (_ []wish, known bool) {
	accept := strings.Join(r.Header["Accept"], ",")
	if accept == "" {
		return []wish{{media: mediaJSON}}, true
	}
	var all []wish
	for _, part := range acceptable(accept) {
		known = known || part.media != "application/*"
		w, params := wish{media: part.media, version: part.params["v"]}, part.params
		w.drop = slices.Contains(strings.Split(params["drop"], "+"), "metadata.managedFields")
		served := params["g"] == metaGroup && (w.version == "v1" || w.version == "v1beta1")
		switch params["as"] {
		case "":
			served = params["g"] == "" && params["v"] == "" && (builtin || w.media != mediaProtobuf)
		case "Table":
			w.form = asTable
			served = served && w.media != mediaProtobuf
		case "PartialObjectMetadata":
			w.form = asMetadata
		case "PartialObjectMetadataList":
			w.form, w.list = asMetadata, true
		default:
			served = false
		}
		if strings.HasSuffix(w.media, "*") {
			w.media = mediaJSON
		}
		if served {
			all = append(all, w)
		}
	}
	return all, known
}

// alternative is one part of an Accept header.
type alternative struct {
	media   string
	params  map[string]string
	quality float64
}

// acceptable returns the parts of an Accept header that name a media type of a real server, in its order of preference.
func acceptable(header string) []alternative {
	var parts []alternative
	for text := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(text)
		if err != nil || !slices.Contains([]string{mediaJSON, mediaYAML, mediaProtobuf, "application/*", "*/*"}, media) {
			continue
		}
		quality, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			quality = 1
		}
		parts = append(parts, alternative{media, params, quality})
	}
	// A real server compares neighbours like this, which is no order: a named type moves before a wildcard even if its quality is lower.
	for i := range parts {
		for ; i > 0 && parts[i].before(parts[i-1]); i-- {
			parts[i], parts[i-1] = parts[i-1], parts[i]
		}
	}
	return parts
}

// before reports whether a real server moves a before b.
func (a alternative) before(b alternative) bool {
	return a.quality > b.quality || strings.Count(a.media, "*") < strings.Count(b.media, "*")
}

// formOf picks the first form in the Accept header that the server supports. Metadata alone must be requested as a list if the
// answer is a list, and as an object otherwise.
func (c *call) formOf(list bool) (form, error) {
	all, known := wishes(c.r, c.res.Builtin)
	if len(all) == 0 || !known && c.res.Builtin {
		return asObject, c.notAcceptable(known)
	}
	w := all[0]
	if w.media == mediaYAML && c.Verb == "watch" {
		return asObject, status.Failure(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: %s", streamed)
	}
	c.formVersion, c.media, c.drop = w.version, w.media, w.drop && c.s.options.DropManagedFields
	if a, ok := c.r.Context().Value(answerKey{}).(*answer); ok {
		a.media = w.media
	}
	if w.form == asMetadata && w.list != list && c.Verb != "watch" {
		as, what := "PartialObjectMetadata", "a list"
		if w.list {
			as, what = "PartialObjectMetadataList", "not a list"
		}
		return asObject, status.Failure(http.StatusNotAcceptable, "NotAcceptable", "you requested %s, but the requested object is %s", as, what)
	}
	return w.form, nil
}

// shown returns an object as the client wants to see it: without managedFields if it has said so.
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

// notAcceptable returns the error for an Accept header without a supported form. A real server uses other words if it does not
// know the media type at all and the kind is compiled in.
func (c *call) notAcceptable(known bool) error {
	media := strings.Join([]string{mediaJSON, mediaYAML, mediaProtobuf}, ", ")
	if !known && c.res.Builtin {
		if c.Verb == "list" || c.Verb == "watch" {
			media += ", " + streamed
		}
		return status.Failure(http.StatusNotAcceptable, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: %s", media).
			With(meta.StatusDetails{})
	}
	return status.Failure(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: %s", media)
}

// streamed are the media types in which a real server sends the events of a watch.
const streamed = mediaJSON + ";stream=watch, " + messages.StreamType

// metaVersion returns the group and version of metadata alone, or of a Table.
func (c *call) metaVersion() string { return metaGroup + "/" + cmp.Or(c.formVersion, "v1") }

// partialStart returns the start of an object that has only metadata.
func (c *call) partialStart() string {
	return `{"kind":"PartialObjectMetadata","apiVersion":"` + c.metaVersion() + `","metadata":`
}

// payload is the body of a request.
type payload struct {
	media string
	sent  []byte   // as it came
	json  []byte   // the same as JSON, unless it is wrong
	twice []string // members that YAML has more than once
	wrong error    // why it does not match its media type; JSON is not checked
}

// payload reads the body of a request, which is JSON, YAML or protobuf and should be of a kind. As on a real server, no type means
// JSON.
func (c *call) payload(apiVersion, kind string) (*payload, error) {
	p := &payload{media: mediaJSON}
	if header := c.r.Header.Get("Content-Type"); header != "" && c.r.ContentLength != 0 {
		p.media, _, _ = mime.ParseMediaType(header)
	}
	if !slices.Contains([]string{mediaJSON, mediaYAML, mediaProtobuf}, p.media) || p.media == mediaProtobuf && !messages.Has(apiVersion, kind) {
		return nil, status.UnsupportedMediaType(mediaJSON, mediaYAML, mediaProtobuf)
	}
	var err error
	if p.sent, err = bodyOf(c.r); err != nil {
		return nil, err
	}
	switch {
	case p.media == mediaJSON || len(p.sent) == 0:
		p.json = p.sent
	case p.media == mediaProtobuf:
		p.json, p.wrong = messages.ToJSON(p.sent, apiVersion, kind)
	default:
		var v any
		if v, p.twice, p.wrong = jsontree.ParseYAML(p.sent); p.wrong == nil {
			p.json = jsontree.Append(nil, v)
		}
	}
	return p, nil
}

// bodyOf reads a request's body, whatever its type.
func bodyOf(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, status.Failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity too large: limit is %d", maxBody)
	}
	return b, nil
}

// maxBody is the maximum size of a request's body.
const maxBody = 3 << 20

// intParam reads an integer parameter; an absent or empty one is 0.
func intParam(query url.Values, name string) (int64, error) {
	s := query.Get(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, status.BadRequest("%v", err)
	}
	return n, nil
}

// gzipFrom is the minimum size of a body that is compressed for clients that allow it.
const gzipFrom = 128 << 10

// compressed returns w, or a writer to it that compresses if the client allows it and size bytes are worth it. The caller must
// call finish at the end.
func (s *Server) compressed(w http.ResponseWriter, r *http.Request, size int) (_ io.Writer, finish func()) {
	h := w.Header()
	if size < gzipFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() {}
	}
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	z, ok := s.gzips.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	z.Reset(w)
	return z, func() {
		_ = z.Close() // ignored: the client may have gone
		s.gzips.Put(z)
	}
}
