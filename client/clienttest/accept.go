package clienttest

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	list    bool   // for metadata alone: as a list
	version string // of the group of the form
	drop    bool   // without managedFields
}

// wishes returns the forms in the Accept header that the server supports, in the client's order of preference. builtin
// says whether the kind is compiled in; custom resources have fewer forms. known says whether the header names a media
// type that a real server has for compiled-in kinds, in any form.
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

// acceptable returns the parts of an Accept header that name a media type of a real server, the preferred part first.
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
	// A real server compares neighbours in this way. The comparison is not transitive: a named type moves before a
	// wildcard even if its quality is lower.
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
