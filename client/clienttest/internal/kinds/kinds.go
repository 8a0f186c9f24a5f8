// Package kinds describes the built-in kinds of one release of kube-apiserver, and has the objects that the server
// makes when it starts. Tests in internal/proof/e2e compare that server's answers with the files here, and write the
// files.
package kinds

import (
	"bytes"
	_ "embed" // for kinds.json, fresh.json and roles.json
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

//go:embed kinds.json
var kindsText []byte

// Kind is a built-in resource and its kind.
type Kind struct {
	Group      string   `json:"group"`
	Version    string   `json:"version"`
	Resource   string   `json:"resource"`
	Kind       string   `json:"kind"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
	Cluster    bool     `json:"cluster"`
	// Subresources are the subresources that clienttest also serves.
	Subresources []string `json:"subresources"`
	// Fields are the SelectableFields.
	Fields []string `json:"fields"`
	// Words are the Traits as words in the file.
	Words  []string `json:"traits"`
	Traits `json:"-"`
	// Blank holds the members that an object has besides metadata when nothing is set, and Status the status of a new
	// object, in which "now" is the time of creation.
	Blank  json.RawMessage `json:"blank"`
	Status json.RawMessage `json:"status"`
	// Columns are the columns of a Table. Each has its name, and its type, format and priority where these differ from
	// the defaults.
	Columns [][]any `json:"columns"`
}

// Traits are those differences between a built-in resource and a custom one that a file can express. In the real
// server, they are in each type's strategy.
type Traits struct {
	AnyField       bool // the error for an unknown field selector is worded differently
	CreateOnUpdate bool // PUT creates
	Generation     bool // metadata.generation is counted, as it always is for custom resources
	NameLabel      bool // names are DNS labels: no dots
	NameSegment    bool // a name is any segment of a path
	ReturnDeleted  bool // DELETE answers with the object instead of a Status
	Single         bool // no deletecollection
	StatusOnCreate bool // a new object keeps the status that the request has
	Unconditional  bool // an update needs no resource version
}

// set sets the traits of the words in the file.
func (t *Traits) set(words []string) {
	named := map[string]bool{}
	for _, word := range words {
		named[word] = true
	}
	b, err := json.Marshal(named)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = errors.Join(err, d.Decode(t)); err != nil {
		panic(fmt.Sprintf("clienttest: the traits in kinds.json: %v", err))
	}
}

// All returns every built-in resource, in the order in which discovery lists their groups. The caller must not change
// them.
func All() []Kind { return all() }

var all = sync.OnceValue(func() []Kind {
	var rows []Kind
	jsontree.MustDecode(kindsText, &rows)
	for i := range rows {
		rows[i].set(rows[i].Words)
	}
	return rows
})

//go:embed fresh.json
var freshText []byte

//go:embed roles.json
var rolesText []byte

// Fresh returns the objects that every server makes when it starts, without random values; "now" is the time of the
// start.
func Fresh() []json.RawMessage { return objects(freshText) }

// Roles returns the roles and bindings that a server with RBAC makes when it starts, except those for its own parts.
func Roles() []json.RawMessage { return objects(rolesText) }

func objects(file []byte) (texts []json.RawMessage) {
	jsontree.MustDecode(file, &texts)
	return texts
}
