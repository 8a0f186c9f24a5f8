package definitions

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// Complete sets the defaults of a definition that was sent. Content is the object without its type and metadata.
func Complete(content jsontree.Object) {
	if spec, ok := content["spec"].(jsontree.Object); ok {
		completeSpec(spec)
	}
	if len(view(content).in("status").texts("storedVersions")) == 0 {
		AddStoredVersion(content)
	}
}

func completeSpec(spec jsontree.Object) {
	if names, ok := spec["names"].(jsontree.Object); ok {
		is := view(names)
		kind := is.text("kind")
		if is.text("singular") == "" && kind != "" {
			names["singular"] = strings.ToLower(kind)
		}
		if is.text("listKind") == "" && kind != "" {
			names["listKind"] = kind + "List"
		}
	}
	if spec["conversion"] == nil {
		spec["conversion"] = jsontree.Object{"strategy": "None"}
	}
	service := view(spec).in("conversion").in("webhook").in("clientConfig").in("service")
	if service != nil && service["port"] == nil {
		service["port"] = json.Number("443")
	}
}

// AddStoredVersion adds the storage version to status.storedVersions if it is missing. A server does so before it
// checks a definition whose spec was written.
func AddStoredVersion(content jsontree.Object) {
	for _, v := range view(content).in("spec").list("versions") {
		if !v.flag("storage") {
			continue
		}
		status, ok := content["status"].(jsontree.Object)
		if !ok {
			status = jsontree.Object{}
			content["status"] = status
		}
		if stored, _ := status["storedVersions"].([]any); !slices.Contains(view(status).texts("storedVersions"), v.text("name")) {
			status["storedVersions"] = append(slices.Clip(stored), v.text("name"))
		}
		return
	}
}
