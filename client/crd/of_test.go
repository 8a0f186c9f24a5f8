package crd_test

import (
	"encoding/json"
	"flag"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

var update = flag.Bool("update", false, "write the manifests in testdata")

// Zoo has a field of each kind of type.
type Zoo struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            ZooSpec   `json:"spec"`
	Status          ZooStatus `json:"status"`
}

// Common is embedded.
type Common struct {
	Owner string `json:"owner,omitempty"`
}

// Optional is embedded by pointer.
type Optional struct {
	Note string `json:"note"`
}

type port struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol,omitempty" crd:"default=TCP; enum=TCP,UDP"`
	Number   uint16 `json:"number" crd:"minimum=1"`
}

type extra map[string]string

type ZooSpec struct {
	Common    `json:",inline"`
	*Optional `json:",inline"`

	Text      string               `json:"text" crd:"minLength=1; maxLength=63; pattern=^[a-z]([-a-z0-9]{0,61})$; format=k8s-short-name"`
	Color     string               `json:"color,omitempty" crd:"enum=red,green,; default=red"`
	Semicolon string               `json:"semicolon,omitempty" crd:"pattern=^[;;a]*$; default=;;a"`
	Flag      bool                 `json:"flag,omitempty" crd:"default=true"`
	Int       int                  `json:"int,omitempty" crd:"minimum=-5; exclusiveMaximum=1e2; multipleOf=5; default=10"`
	Small     int8                 `json:"small"`
	Wide      int64                `json:"wide"`
	Replicas  *int32               `json:"replicas,omitempty" crd:"minimum=0; default=1"`
	Unset     *int32               `json:"unset"`
	Unsigned  uint64               `json:"unsigned"`
	Ratio     float64              `json:"ratio,omitempty" crd:"exclusiveMinimum=0; maximum=0.50"`
	Quoted    int64                `json:"quoted,string"`
	Bytes     []byte               `json:"bytes,omitempty"`
	At        meta.Time            `json:"at,omitzero"`
	Null      meta.Time            `json:"null"`
	Micro     *meta.MicroTime      `json:"micro,omitempty"`
	Every     meta.Duration        `json:"every,omitempty" crd:"default=5m"`
	Nanos     time.Duration        `json:"nanos,omitempty"`
	Size      meta.Quantity        `json:"size,omitempty" crd:"default=1Gi"`
	Surge     meta.IntOrString     `json:"surge,omitempty" crd:"default=25%"`
	Address   netip.Addr           `json:"address,omitempty" crd:"format=ipv4"`
	Selector  *meta.LabelSelector  `json:"selector,omitempty"`
	Target    meta.ObjectReference `json:"target,omitzero"`
	Raw       json.RawMessage      `json:"raw,omitempty"`
	Any       any                  `json:"any,omitempty" crd:"preserveUnknown"`
	Values    map[string]any       `json:"values,omitempty" crd:"preserveUnknown"`
	Object    *meta.Unstructured   `json:"object,omitempty"`
	Partly    struct {
		Known string `json:"known,omitempty"`
	} `json:"partly,omitzero" crd:"preserveUnknown"`
	Template struct {
		Metadata meta.ObjectMeta `json:"metadata,omitzero"`
		Image    string          `json:"image"`
	} `json:"template,omitzero"`
	Hosts    []string            `json:"hosts,omitempty" crd:"listType=set; maxItems=16; items.maxLength=253; items.format=hostname"`
	Ports    []port              `json:"ports,omitempty" crd:"listType=map; listMapKeys=name,protocol; maxItems=10"`
	Patched  []port              `json:"patched,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Pair     [2]int              `json:"pair,omitzero"`
	Matrix   [][]int32           `json:"matrix,omitempty" crd:"items.maxItems=3; items.items.minimum=0"`
	Labels   extra               `json:"labels,omitempty" crd:"mapType=atomic; maxProperties=5; items.pattern=^a"`
	Lists    map[string][]string `json:"lists,omitempty"`
	Defaults *port               `json:"defaults,omitempty" crd:"default={\"name\":\"a\",\"number\":1}"`
	Range    struct {
		Min int `json:"min"`
		Max int `json:"max"`
	} `json:"range,omitzero" crd:"rule=self.min <= self.max; message=min must not be above max; reason=FieldValueInvalid; fieldPath=.max; rule=self.max < 1000"`
	Forced   *string   `json:"forced" crd:"required"`
	Loose    string    `json:"loose" crd:"optional"`
	Nullable *string   `json:"nullable,omitempty" crd:"nullable"`
	Choice   *string   `json:"choice,omitempty" crd:"enum=a,b"`
	Skipped  string    `json:"-"`
	Shape    time.Time `json:"shape,omitzero" crd:"type=string; format=date"`
	Tree     *tree     `json:"tree,omitempty"`
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children,omitempty" crd:"items.type=object; items.preserveUnknown"`
}

type ZooStatus struct {
	Replicas   int32            `json:"replicas,omitempty"`
	Selector   string           `json:"selector,omitempty"`
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

var Zoos = client.Type[*Zoo]{Group: "example.com", Version: "v1", Kind: "Zoo", Resource: "zoos"}

func zoo() *crd.Definition {
	return crd.MustOf(Zoos, crd.Options{
		ShortNames: []string{"zo"}, Categories: []string{"all"},
		Columns: []crd.Column{
			{Name: "Text", JSONPath: ".spec.text"},
			{Name: "Flag", JSONPath: ".spec.flag"},
			{Name: "Replicas", JSONPath: ".spec.replicas", Priority: 1},
			{Name: "Ready", JSONPath: `.status.conditions[?(@.type=="Ready")].status`, Description: "whether it is open: \"yes\" or no"},
			{Name: "Age", JSONPath: ".metadata.creationTimestamp"},
		},
		Scale:            &crd.Scale{SpecReplicas: ".spec.replicas", StatusReplicas: ".status.replicas", LabelSelector: ".status.selector"},
		SelectableFields: []string{".spec.color"},
		Rules:            []crd.Rule{{Rule: "self.metadata.name.size() < 100", Message: "the name is too long"}},
		Descriptions: map[string]string{
			"": "Zoo has everything.", "spec.ports[].name": "Name is unique: in the list.", "spec.hosts[]": "One host.\nOr several.",
		},
		Labels: map[string]string{"app": "zoo"},
	})
}

func TestADefinitionHasWhatTypeAndTagsSay(t *testing.T) {
	if err := crd.CheckFile("testdata/zoo.yaml", *update, zoo()); err != nil {
		t.Error(err)
	}
}

// object is an object with a field of a type.
type object[F any] struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            F `json:"spec"`
}

func of[F any](o crd.Options) error {
	_, err := crd.Of(client.Type[*object[F]]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}, o)
	return err
}

type (
	recursive struct {
		Next *recursive `json:"next,omitempty"`
	}
	selfCoding struct{ n int }
	keyed      struct {
		Name string `json:"name,omitempty"`
		Port int    `json:"port"`
	}
)

func (s selfCoding) MarshalJSON() ([]byte, error)  { return json.Marshal(s.n) }
func (s *selfCoding) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &s.n) }

func TestMistakesNameTheFieldAndWhatIsAllowed(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"an unknown word": {of[struct {
			A string `json:"a" crd:"minLenght=1"`
		}](crd.Options{}), `field Spec.A of crd_test.object[...]: the tag has the word "minLenght"; the words are required, optional,`},
		"a word twice": {of[struct {
			A string `json:"a" crd:"minLength=1; minLength=2"`
		}](crd.Options{}), `the tag has the word minLength twice`},
		"a flag with a value": {of[struct {
			A string `json:"a" crd:"required=true"`
		}](crd.Options{}), `the word required of the tag has no value, got "true"`},
		"a word without a value": {of[struct {
			A string `json:"a" crd:"pattern"`
		}](crd.Options{}), `the word pattern of the tag needs a value, as in pattern=VALUE`},
		"an empty word": {of[struct {
			A string `json:"a" crd:"minLength=1;"`
		}](crd.Options{}), `the tag has an empty word`},
		"a default of another type": {of[struct {
			A int `json:"a" crd:"default=x"`
		}](crd.Options{}), `field Spec.A of crd_test.object[...]: the word default of the tag: "x" is not a value of the field, which is of type integer`},
		"a default that is too small": {of[struct {
			A int `json:"a" crd:"default=1; minimum=2"`
		}](crd.Options{}), `the word default of the tag: 1 must be at least 2`},
		"a default outside of the enum": {of[struct {
			A string `json:"a" crd:"default=c; enum=a,b"`
		}](crd.Options{}), `"c" is not in the enum, which has "a", "b"`},
		"a default that does not match": {of[struct {
			A string `json:"a" crd:"default=B; pattern=^[a-z]$"`
		}](crd.Options{}), `"B" does not match the pattern ^[a-z]$`},
		"a default that is too long": {of[struct {
			A string `json:"a" crd:"default=ab; maxLength=1"`
		}](crd.Options{}), `the length of "ab" must be at most 1, got 2`},
		"a default with a member that is dropped": {of[struct {
			A keyed `json:"a" crd:"default={\"nam\":\"x\",\"port\":1}"`
		}](crd.Options{}), `at nam: the server drops the member; allowed are ["name" "port"]`},
		"a default without a required member": {of[struct {
			A []keyed `json:"a" crd:"default=[{}]"`
		}](crd.Options{}), `at [0].port: the member is required`},
		"a fraction for an integer": {of[struct {
			A int `json:"a" crd:"default=1.5"`
		}](crd.Options{}), `1.5 is not allowed, the value is of type integer`},
		"an enum of another type": {of[struct {
			A int `json:"a" crd:"enum=1,b"`
		}](crd.Options{}), `the word enum of the tag: "b" is not a value of the field`},
		"an enum with a value twice": {of[struct {
			A int `json:"a" crd:"enum=1, 1"`
		}](crd.Options{}), `the word enum of the tag has 1 twice`},
		// A server compares null with no value of an enum, not even with null.
		"an enum of a value that may be null": {of[struct {
			A *string `json:"a" crd:"enum=a"`
		}](crd.Options{}), `field Spec.A of crd_test.object[...]: the field has an enum and may be null, which no server accepts together`},
		"a pattern that does not compile": {of[struct {
			A string `json:"a" crd:"pattern=["`
		}](crd.Options{}), `the word pattern of the tag must be a regular expression: error parsing regexp`},
		"a pattern of a number": {of[struct {
			A int `json:"a" crd:"pattern=a"`
		}](crd.Options{}), `the word pattern of the tag is for strings, and the field is of type integer`},
		"a minimum of a string": {of[struct {
			A string `json:"a" crd:"minimum=1"`
		}](crd.Options{}), `the word minimum of the tag is for numbers, and the field is of type string`},
		"a minimum that is no number": {of[struct {
			A int `json:"a" crd:"minimum=0x1"`
		}](crd.Options{}), `the word minimum of the tag has the value "0x1"; allowed is a number as in JSON`},
		"a huge number": {of[struct {
			A int `json:"a" crd:"minimum=1e999999999"`
		}](crd.Options{}), `allowed is a number as in JSON`},
		"bounds that exclude everything": {of[struct {
			A uint8 `json:"a" crd:"minimum=256"`
		}](crd.Options{}), `no number is above the minimum 256 and below the maximum 255`},
		"a step of 0": {of[struct {
			A int `json:"a" crd:"multipleOf=0"`
		}](crd.Options{}), `allowed is a number above 0`},
		"a negative length": {of[struct {
			A string `json:"a" crd:"minLength=-1"`
		}](crd.Options{}), `allowed is an integer that is not negative`},
		"lengths that exclude everything": {of[struct {
			A string `json:"a" crd:"minLength=2; maxLength=1"`
		}](crd.Options{}), `minLength is 2, above maxLength, which is 1`},
		"a length of a list": {of[struct {
			A []string `json:"a" crd:"maxLength=1"`
		}](crd.Options{}), `the word maxLength of the tag is for strings, and the field is a list`},
		"a word about the elements of a scalar": {of[struct {
			A string `json:"a" crd:"items.maxLength=1"`
		}](crd.Options{}), `the tag has the word items.maxLength, and the field is not a list or map`},
		"required elements": {of[struct {
			A []string `json:"a" crd:"items.required"`
		}](crd.Options{}), `the word items.required of the tag is about a field, not about elements`},
		"an unknown format": {of[struct {
			A string `json:"a" crd:"format=url"`
		}](crd.Options{}), `the word format of the tag has the value "url"; allowed is one of bsonobjectid, byte,`},
		"required and optional": {of[struct {
			A string `json:"a" crd:"required; optional"`
		}](crd.Options{}), `the tag says required and optional`},
		"a list map without keys": {of[struct {
			A []keyed `json:"a" crd:"listType=map"`
		}](crd.Options{}), `the word listType=map of the tag needs the word listMapKeys`},
		"a key that is no member": {of[struct {
			A []keyed `json:"a" crd:"listType=map; listMapKeys=id"`
		}](crd.Options{}), `the word listMapKeys of the tag has "id"; allowed are the members of the elements, ["name" "port"]`},
		"a key that may be missing": {of[struct {
			A []keyed `json:"a" crd:"listType=map; listMapKeys=name"`
		}](crd.Options{}), `the word listMapKeys of the tag has "name", which may be missing: a key needs the word required or a default`},
		"keys without a list map": {of[struct {
			A []keyed `json:"a" crd:"listMapKeys=port"`
		}](crd.Options{}), `the word listMapKeys of the tag needs the word listType=map`},
		"a set of structs": {of[struct {
			A []keyed `json:"a" crd:"listType=set"`
		}](crd.Options{}), `the word listType=set of the tag needs elements that are scalars or atomic`},
		"an unknown list type": {of[struct {
			A []keyed `json:"a" crd:"listType=bag"`
		}](crd.Options{}), `allowed is atomic, set or map`},
		"a map type of a list": {of[struct {
			A []keyed `json:"a" crd:"mapType=atomic"`
		}](crd.Options{}), `the word mapType of the tag is for maps and structs, and the field is a list`},
		"a message without a rule": {of[struct {
			A string `json:"a" crd:"message=no"`
		}](crd.Options{}), `the word message of the tag must come after the word rule that it is about`},
		"an unknown reason": {of[struct {
			A string `json:"a" crd:"rule=true; reason=Bad"`
		}](crd.Options{}), `which must be one of ["FieldValueInvalid"`},
		"a path that is no member": {of[struct {
			A keyed `json:"a" crd:"rule=true; fieldPath=.b"`
		}](crd.Options{}), `the tag has a rule with the fieldPath ".b", and there is no member "b"; allowed are ["name" "port"]`},
		"a path without a dot": {of[struct {
			A keyed `json:"a" crd:"rule=true; fieldPath=b"`
		}](crd.Options{}), `the tag has a rule with the fieldPath "b", which must have the form .name or ['name']`},
		"a rule that is twice about a value that is absent": {of[struct {
			A int `json:"a" crd:"rule=true; optionalOldSelf; optionalOldSelf"`
		}](crd.Options{}), `the tag has the word optionalOldSelf twice for one rule`},
		"a default without a kind": {of[struct {
			A *meta.Unstructured `json:"a,omitempty" crd:"default={\"apiVersion\":\"v1\"}"`
		}](crd.Options{}), `the word default of the tag: at kind: the member is required in a whole object`},
		"recursion": {
			of[recursive](crd.Options{}),
			`field Spec.Next of crd_test.object[...]: crd_test.recursive contains itself, and a structural schema has no recursion`,
		},
		"an interface": {of[struct {
			A any `json:"a"`
		}](crd.Options{}), `the interface interface {} has no schema: use a type, a json.RawMessage, or the word preserveUnknown`},
		"a map of interfaces": {of[struct {
			A map[string]any `json:"a"`
		}](crd.Options{}), `field Spec.A[] of crd_test.object[...]: the interface interface {} has no schema`},
		"a map with other keys": {of[struct {
			A map[int]string `json:"a"`
		}](crd.Options{}), `the keys of map[int]string must be strings`},
		"a channel": {of[struct {
			A chan int `json:"a"`
		}](crd.Options{}), `a value of chan int has no JSON in a schema; allowed are booleans,`},
		"a type that encodes itself": {of[struct {
			A selfCoding `json:"a"`
		}](crd.Options{}), `crd_test.selfCoding encodes itself, so its schema is unknown: say it with the word type`},
		"an unknown type": {of[struct {
			A selfCoding `json:"a" crd:"type=int"`
		}](crd.Options{}), `allowed is string, integer, number, boolean, intOrString, any, or object with preserveUnknown`},
		"an object that keeps nothing": {of[struct {
			A selfCoding `json:"a" crd:"type=object"`
		}](crd.Options{}), `the word type=object needs the word preserveUnknown, or the server drops every member`},
		"an embedded string": {of[struct {
			A string `json:"a" crd:"embedded"`
		}](crd.Options{}), `the word embedded of the tag is for structs, and the field is of type string`},
		"unknown members of a string": {of[struct {
			A string `json:"a" crd:"preserveUnknown"`
		}](crd.Options{}), `the word preserveUnknown of the tag is for structs, maps and interfaces`},
		"a field without a name": {of[struct{ A string }](crd.Options{}), `field Spec.A of crd_test.object[...] must have a name in a json tag`},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, test.err, test.want) })
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	text := ""
	if err != nil { // the names of type arguments are long
		text = regexp.MustCompile(`object\[.*?\}?\](:| must| contains)`).ReplaceAllString(err.Error(), "object[...]$1")
	}
	if !strings.Contains(text, want) {
		t.Errorf("the error is %v, want %s", text, want)
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	type spec struct {
		Replicas int      `json:"replicas"`
		Text     string   `json:"text"`
		List     []string `json:"list"`
	}
	things := client.Type[*object[spec]]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}
	older := things
	older.Version = "v1alpha1"
	elsewhere := older
	elsewhere.Group = "example.org"
	for want, o := range map[string]crd.Options{
		`Columns[0]: Name must be set`:               {Columns: []crd.Column{{JSONPath: ".spec"}}},
		`Columns[0]: JSONPath must start with a dot`: {Columns: []crd.Column{{Name: "A", JSONPath: "spec"}}},

		`Columns[0]: JSONPath is ".spec.nope", which is not the path of a member; members are ["spec"]`: {Columns: []crd.Column{{Name: "A", JSONPath: ".spec.nope"}}},

		`Columns[0]: Type must be one of`:                                                       {Columns: []crd.Column{{Name: "A", JSONPath: ".spec.text", Type: "text"}}},
		`Columns[0]: Format must be one of ["byte" "date"`:                                      {Columns: []crd.Column{{Name: "A", JSONPath: ".spec.text", Format: "name"}}},
		`Scale.SpecReplicas must be a path that starts with .spec., got "spec.replicas"`:        {Scale: &crd.Scale{SpecReplicas: "spec.replicas", StatusReplicas: ".spec.replicas"}},
		`Scale.SpecReplicas is ".spec.text", which must be a member of type integer`:            {Scale: &crd.Scale{SpecReplicas: ".spec.text", StatusReplicas: ".status.replicas"}},
		`SelectableFields[0] is ".spec.list", which must be the path of a string`:               {SelectableFields: []string{".spec.list"}},
		`SelectableFields[1] must not be listed twice, got ".spec.text"`:                        {SelectableFields: []string{".spec.text", ".spec.text"}},
		`Descriptions has "spec.nope", which is not the path of a member`:                       {Descriptions: map[string]string{"spec.nope": "x"}},
		`crd.Options has a rule with the fieldPath ".spec.nope", and there is no member "nope"`: {Rules: []crd.Rule{{Rule: "true", FieldPath: ".spec.nope"}}},

		`Rules[0] has a rule without a text`:                                                         {Rules: []crd.Rule{{}}},
		`DeprecationWarning must be empty unless Deprecated is set`:                                  {DeprecationWarning: "old"},
		`ShortNames[0] must have 1 to 63 lower-case letters`:                                         {ShortNames: []string{"T"}},
		`Categories[0] must have`:                                                                    {Categories: []string{""}},
		`Singular must have`:                                                                         {Singular: "a thing"},
		`Storage is "v2", which must be one of the versions ["v1"]`:                                  {Storage: "v2"},
		`Others has the version v1 twice, or it is that of Of's type`:                                {Others: []crd.OtherVersion{crd.Other(things, crd.Options{})}},
		`Others has Thing things.example.org (Namespaced), which must have the group`:                {Others: []crd.OtherVersion{crd.Other(elsewhere, crd.Options{})}},
		`crd.Options of version v1alpha1: ShortNames must be zero, because it is about all versions`: {Others: []crd.OtherVersion{crd.Other(older, crd.Options{ShortNames: []string{"t"}})}},
		`an element of Others is zero; make it with crd.Other`:                                       {Others: make([]crd.OtherVersion, 1)},
		`Conversion must have a URL or a Service, and not both`:                                      {Conversion: &crd.WebhookClient{}},
		`Conversion.URL must be an https URL`:                                                        {Conversion: &crd.WebhookClient{URL: "http://a"}},
		`Conversion.Service must have a Namespace and a Name`:                                        {Conversion: &crd.WebhookClient{Service: &crd.WebhookService{}}},
	} {
		_, err := crd.Of(things, o)
		wantError(t, err, want)
	}
	for want, of := range map[string]client.Type[*object[spec]]{
		`Group must be a domain of lower-case letters, digits and dashes with at least one dot, got ""`: {Version: "v1", Kind: "Thing", Resource: "things"},
		`Version must have 1 to 63`:      {Group: "example.com", Kind: "Thing", Resource: "things"},
		`Kind must have 1 to 63`:         {Group: "example.com", Version: "v1", Resource: "things"},
		`Resource must have 1 to 63`:     {Group: "example.com", Version: "v1", Kind: "Thing", Resource: "Things"},
		`ListKind must differ from Kind`: {Group: "example.com", Version: "v1", Kind: "Thing", ListKind: "Thing", Resource: "things"},
	} {
		_, err := crd.Of(of, crd.Options{})
		wantError(t, err, want)
	}
	_, err := crd.Of(client.Type[*meta.Raw]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}, crd.Options{})
	wantError(t, err, "has no fields that tell its schema: the type must be a pointer to a struct without JSON methods")
}

// open is an object whose methods keep the members that it has no field for.
type open struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            openSpec                   `json:"spec" crd:"preserveUnknown"`
	Unknown         map[string]json.RawMessage `json:"-"`
}

type openSpec struct {
	Known   string                     `json:"known,omitempty"`
	Unknown map[string]json.RawMessage `json:"-"`
}

func (o open) MarshalJSON() ([]byte, error)         { return json.Marshal(o.Unknown) }
func (o *open) UnmarshalJSON(b []byte) error        { return json.Unmarshal(b, &o.Unknown) }
func (o openSpec) MarshalJSON() ([]byte, error)     { return json.Marshal(o.Unknown) }
func (o *openSpec) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &o.Unknown) }

// Only the type itself knows whether its methods keep what has no field.
func TestATypeThatKeepsUnknownMembersHasTheSchemaOfItsFields(t *testing.T) {
	things := client.Type[*open]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}
	d, err := crd.Of(things, crd.Options{PreserveUnknown: true, Descriptions: map[string]string{"spec.known": "a text"}})
	if err != nil {
		t.Fatal(err)
	}
	root := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	if !root.PreserveUnknownFields || !spec.PreserveUnknownFields || spec.Properties["known"].Description != "a text" {
		t.Errorf("the schema is %+v, and that of spec %+v", root, spec)
	}
	_, err = crd.Of(things, crd.Options{})
	wantError(t, err, "or the option PreserveUnknown must say that the methods keep what no field has")
	wantError(t, of[struct {
		A openSpec `json:"a"`
	}](crd.Options{}), "or with the word preserveUnknown if its methods keep the members that no field has")
	_, err = crd.VersionOf(nil, "v1", crd.Options{})
	wantError(t, err, "<nil> has no fields that tell its schema")
	_, err = crd.Of(client.Type[*meta.Raw]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}, crd.Options{PreserveUnknown: true})
	wantError(t, err, "*meta.Raw has no fields that tell its schema")
}
