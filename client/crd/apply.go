package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file puts the words of a tag into a schema.

var errObjectMembers = errors.New("the word type=object needs the word preserveUnknown, or the server drops every member")

func has(words []word, name string) bool { return find(words, name) != nil }

// find returns the word with this name about the value itself; nil if the tag does not have it.
func find(words []word, name string) *word {
	for i, w := range words {
		if w.items == 0 && w.name == name {
			return &words[i]
		}
	}
	return nil
}

func wrongValue(name, value, allowed string) error {
	return fmt.Errorf("the word %s of the tag has the value %q; allowed is %s", name, value, allowed)
}

// shown describes a schema's type for an error.
func shown(s *Schema) string {
	switch {
	case s.IntOrString:
		return "an integer or a string"
	case s.Type == "":
		return "any value"
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "a map"
	case s.Type == "array":
		return "a list"
	}
	return "of type " + s.Type
}

// applyWords applies the words about a value itself to the value's schema.
func applyWords(s *Schema, words []word) error {
	var last *word // the word default, which comes last because the other words limit it
	for i, w := range words {
		var err error
		switch kind, _ := kindOf(w.name); {
		case w.name == "default":
			last = &words[i]
		case w.name == "enum":
			err = s.setEnum(w)
		case kind == countWord:
			err = s.setCount(w)
		case kind == numberWord:
			err = s.setNumber(w)
		case ofRule(w.name):
			err = s.setRule(w)
		default:
			err = s.setOther(w, words)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range s.Rules { // a message may come after its rule
		if err := checkRule(r, "the tag"); err != nil {
			return err
		}
	}
	if err := errors.Join(s.consistent(), s.checkFieldPaths("the tag")); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	value, err := s.parse(last.value)
	if err == nil {
		err = s.check(value)
	}
	if err != nil {
		return fmt.Errorf("the word default of the tag: %w", err)
	}
	s.Default = value
	return nil
}

// parse reads a value in a tag. If the schema is a string, it returns the value as a string. If the schema is an
// integer or a string, it does the same unless the value is an integer. Otherwise it reads the value as JSON.
func (s *Schema) parse(value string) (json.RawMessage, error) {
	if _, err := strconv.ParseInt(value, 10, 64); s.Type == "string" || s.IntOrString && err != nil {
		return quote(value), nil
	}
	text, err := canonical([]byte(value))
	if err != nil {
		return nil, fmt.Errorf("%q is not a value of the field, which is %s: %w", value, shown(s), err)
	}
	return text, nil
}

// quote returns a text as JSON.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // cannot fail for a string
	return bytes.TrimSpace(b.Bytes())
}

func (s *Schema) setEnum(w word) error {
	if s.Type == "array" || s.Type == "object" {
		return fmt.Errorf("the word enum of the tag is for strings, numbers and booleans, and the field is %s", shown(s))
	}
	for text := range strings.SplitSeq(w.value, ",") {
		value, err := s.parse(strings.TrimSpace(text))
		if err == nil {
			err = (&Schema{Type: s.Type, AnyOf: s.AnyOf, IntOrString: s.IntOrString}).check(value)
		}
		if err != nil {
			return fmt.Errorf("the word enum of the tag: %w", err)
		}
		if slices.ContainsFunc(s.Enum, func(v json.RawMessage) bool { return bytes.Equal(v, value) }) {
			return fmt.Errorf("the word enum of the tag has %s twice", value)
		}
		s.Enum = append(s.Enum, value)
	}
	return nil
}

func (s *Schema) setCount(w word) error {
	n, err := strconv.ParseInt(w.value, 10, 64)
	if err != nil || n < 0 {
		return wrongValue(w.name, w.value, "an integer that is not negative")
	}
	fits, what := false, ""
	switch w.name {
	case "minLength", "maxLength":
		fits, what = s.Type == "string" || s.IntOrString, "strings"
	case "minItems", "maxItems":
		fits, what = s.Type == "array", "lists"
	case "minProperties", "maxProperties":
		fits, what = s.Type == "object", "maps and structs"
	}
	if !fits {
		return fmt.Errorf("the word %s of the tag is for %s, and the field is %s", w.name, what, shown(s))
	}
	*map[string]**int64{
		"minLength": &s.MinLength, "maxLength": &s.MaxLength, "minItems": &s.MinItems, "maxItems": &s.MaxItems,
		"minProperties": &s.MinProperties, "maxProperties": &s.MaxProperties,
	}[w.name] = &n
	return nil
}

func (s *Schema) setNumber(w word) error {
	if s.Type != "integer" && s.Type != "number" && !s.IntOrString {
		return fmt.Errorf("the word %s of the tag is for numbers, and the field is %s", w.name, shown(s))
	}
	n, err := rational(w.value)
	if err != nil {
		return wrongValue(w.name, w.value, "a number as in JSON")
	}
	is := json.Number(canonicalNumber(json.Number(w.value)))
	switch w.name {
	case "minimum":
		s.Minimum = &is
	case "maximum":
		s.Maximum = &is
	case "exclusiveMinimum":
		s.Minimum, s.ExclusiveMinimum = &is, true
	case "exclusiveMaximum":
		s.Maximum, s.ExclusiveMaximum = &is, true
	case "multipleOf":
		if n.Sign() <= 0 {
			return wrongValue(w.name, w.value, "a number above 0")
		}
		s.MultipleOf = &is
	}
	return nil
}

// jsonNumber matches the numbers of JSON that are short enough for cheap arithmetic.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][+-]?[0-9]{1,2})?$`)

// rational parses a number of JSON.
func rational(text string) (*big.Rat, error) {
	if !jsonNumber.MatchString(text) {
		return nil, fmt.Errorf("%q is not a number of JSON, or is too long", text)
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}

func (s *Schema) setRule(w word) error {
	if w.name == "rule" {
		s.Rules = append(s.Rules, Rule{Rule: w.value})
		return nil
	}
	if len(s.Rules) == 0 {
		return fmt.Errorf("the word %s of the tag must come after the word rule that it is about", w)
	}
	r := &s.Rules[len(s.Rules)-1]
	if w.name == "optionalOldSelf" {
		if r.OptionalOldSelf != nil {
			return fmt.Errorf("the tag has the word %s twice for one rule", w)
		}
		r.OptionalOldSelf = new(true)
		return nil
	}
	member := map[string]*string{
		"message": &r.Message, "messageExpression": &r.MessageExpression, "reason": &r.Reason, "fieldPath": &r.FieldPath,
	}[w.name]
	if *member != "" {
		return fmt.Errorf("the tag has the word %s twice for one rule", w)
	}
	*member = w.value
	return nil
}

// ruleReasons are the reasons that a rule may have.
var ruleReasons = [...]string{"FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"}

// checkRule checks a rule without reading its CEL.
func checkRule(r Rule, what string) error {
	switch {
	case strings.TrimSpace(r.Rule) == "":
		return fmt.Errorf("%s has a rule without a text", what)
	case r.Reason != "" && !slices.Contains(ruleReasons[:], r.Reason):
		return fmt.Errorf("%s has a rule with the reason %q, which must be one of %q", what, r.Reason, ruleReasons)
	case r.Message != strings.TrimSpace(r.Message), strings.ContainsAny(r.Message, "\r\n"):
		return fmt.Errorf("%s has a rule with the message %q, which must be one line without white space around it", what, r.Message)
	case strings.ContainsAny(r.Rule, "\r\n") && r.Message == "":
		return fmt.Errorf("%s has a rule of several lines, which needs a message", what)
	}
	return nil
}

// The formats that a tag may name. A server checks textFormats; numberFormats only tell the size of a number.
var (
	textFormats = [...]string{
		"bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "datetime", "duration", "email", "hexcolor", "hostname", "ipv4", "ipv6",
		"isbn", "isbn10", "isbn13", "k8s-long-name", "k8s-short-name", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5",
	}
	numberFormats = [...]string{"double", "float", "int32", "int64"}
)

// setOther applies a word for which applyWords has no other function.
func (s *Schema) setOther(w word, words []word) error {
	switch w.name {
	case "nullable":
		s.Nullable = true
	case "pattern":
		if s.Type != "string" && !s.IntOrString {
			return fmt.Errorf("the word pattern of the tag is for strings, and the field is %s", shown(s))
		}
		if _, err := regexp.Compile(w.value); err != nil {
			return fmt.Errorf("the word pattern of the tag must be a regular expression: %w", err)
		}
		s.Pattern = w.value
	case "format":
		return s.setFormat(w.value)
	case "preserveUnknown":
		if s.Type != "object" && s.Type != "" || s.IntOrString {
			return fmt.Errorf("the word preserveUnknown of the tag is for structs, maps and interfaces, and the field is %s", shown(s))
		}
		s.PreserveUnknownFields = true
	case "embedded":
		return s.embed(has(words, "preserveUnknown"))
	case "listType":
		return s.setListType(w.value, find(words, "listMapKeys"))
	case "listMapKeys":
		if is := find(words, "listType"); is == nil || is.value != "map" {
			return errors.New("the word listMapKeys of the tag needs the word listType=map")
		}
	case "mapType":
		switch {
		case s.Type != "object":
			return fmt.Errorf("the word mapType of the tag is for maps and structs, and the field is %s", shown(s))
		case w.value != "atomic" && w.value != "granular":
			return wrongValue(w.name, w.value, "atomic or granular")
		}
		s.MapType = w.value
	}
	return nil
}

func (s *Schema) setFormat(format string) error {
	allowed := textFormats[:]
	switch s.Type {
	case "integer", "number":
		allowed = numberFormats[:]
	case "string":
	default:
		return fmt.Errorf("the word format of the tag is for strings and numbers, and the field is %s", shown(s))
	}
	if !slices.Contains(allowed, format) {
		return wrongValue("format", format, "one of "+strings.Join(allowed, ", "))
	}
	s.Format = format
	return nil
}

// embed makes the value a whole object, whose kind, apiVersion and metadata the server checks.
func (s *Schema) embed(preserved bool) error {
	if s.Type != "object" || s.AdditionalProperties != nil {
		return fmt.Errorf("the word embedded of the tag is for structs, and the field is %s", shown(s))
	}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(s.Properties, name)
		s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
	}
	if len(s.Properties) == 0 && !preserved {
		return errors.New("the word embedded of the tag needs the word preserveUnknown if the struct has no further fields")
	}
	s.EmbeddedResource = true
	return nil
}

func (s *Schema) setListType(typ string, keys *word) error {
	if s.Type != "array" {
		return fmt.Errorf("the word listType of the tag is for lists, and the field is %s", shown(s))
	}
	s.ListType, s.ListMapKeys = typ, nil
	item := s.Items
	switch typ {
	case "atomic":
	case "set":
		if item.Type == "array" && item.ListType != "atomic" || item.Type == "object" && item.MapType != "atomic" || item.Nullable || item.anything() {
			return fmt.Errorf("the word listType=set of the tag needs elements that are scalars or atomic, and these are %s", shown(item))
		}
	case "map":
		if keys == nil {
			return errors.New("the word listType=map of the tag needs the word listMapKeys, such as listMapKeys=name")
		}
		return s.setKeys(keys.value)
	default:
		return wrongValue("listType", typ, "atomic, set or map")
	}
	return nil
}

// setKeys sets the members that distinguish the elements of a list.
func (s *Schema) setKeys(keys string) error {
	for name := range strings.SplitSeq(keys, ",") {
		name = strings.TrimSpace(name)
		key := s.Items.Properties[name]
		switch {
		case key == nil:
			return fmt.Errorf("the word listMapKeys of the tag has %q; allowed are the members of the elements, %q", name, s.Items.members())
		case key.Type == "array" || key.Type == "object" || key.Nullable || key.anything():
			return fmt.Errorf("the word listMapKeys of the tag has %q, which is %s; a key must be a string, a number or a boolean, and not null", name, shown(key))
		case !slices.Contains(s.Items.Required, name) && len(key.Default) == 0:
			return fmt.Errorf("the word listMapKeys of the tag has %q, which may be missing: a key needs the word required or a default", name)
		case slices.Contains(s.ListMapKeys, name):
			return fmt.Errorf("the word listMapKeys of the tag has %q twice", name)
		}
		s.ListMapKeys = append(s.ListMapKeys, name)
	}
	return nil
}
