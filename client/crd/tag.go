package crd

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// This file reads the tag of a field: words that are separated by semicolons. A word may have a value after "=". In a
// value, two semicolons stand for one.

// tagKey is the key of the tag.
const tagKey = "crd"

// word is one word of a tag.
type word struct {
	items  int // number of prefixes "items.": 1 for the elements, 2 for the elements of the elements
	name   string
	value  string
	valued bool // there is an "="
}

// wordKind says which value a word has.
type wordKind int

const (
	flagWord   wordKind = iota // no value
	textWord                   // a text
	listWord                   // texts that are separated by commas
	numberWord                 // a number
	countWord                  // an integer that is not negative
	valueWord                  // a value of the field's type
)

// kindOf returns the kind of a word, and whether there is such a word.
func kindOf(name string) (wordKind, bool) {
	switch name {
	case "required", "optional", "nullable", "preserveUnknown", "embedded", "optionalOldSelf":
		return flagWord, true
	case "type", "format", "pattern", "listType", "mapType", "rule", "message", "messageExpression", "reason", "fieldPath":
		return textWord, true
	case "enum", "listMapKeys":
		return listWord, true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return numberWord, true
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return countWord, true
	case "default":
		return valueWord, true
	}
	return 0, false
}

// wordNames lists the words for errors.
const wordNames = "required, optional, nullable, default, enum, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, " +
	"maxLength, minItems, maxItems, minProperties, maxProperties, pattern, format, rule, message, messageExpression, reason, fieldPath, optionalOldSelf, " +
	"listType, listMapKeys, mapType, preserveUnknown, embedded and type, each with items. in front for the elements of a list or map"

// wordsOf returns the words of a field's tag.
func wordsOf(tag reflect.StructTag) ([]word, error) {
	text, found := tag.Lookup(tagKey)
	switch {
	case !found && strings.Contains(string(tag), tagKey+`:`):
		return nil, fmt.Errorf("the tag %s cannot be read: write %s:\"...\", with a double backslash for a backslash, and \\\" for a quote", tag, tagKey)
	case !found:
		return nil, nil
	}
	return parseWords(text)
}

// parseWords reads the value of a tag.
func parseWords(text string) (words []word, err error) {
	for _, part := range splitWords(text) {
		w, err := parseWord(part)
		if err != nil {
			return nil, err
		}
		twice := slices.ContainsFunc(words, func(o word) bool { return o.items == w.items && o.name == w.name && !ofRule(w.name) })
		if twice {
			return nil, fmt.Errorf("the tag has the word %s twice", w)
		}
		words = append(words, w)
	}
	return words, nil
}

// ofRule reports whether a word is part of a rule. A tag may have several rules.
func ofRule(name string) bool {
	return slices.Contains([]string{"rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"}, name)
}

// splitWords splits at single semicolons.
func splitWords(text string) (parts []string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != ';':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == ';':
			b.WriteByte(';')
			i++
		default:
			parts = append(parts, b.String())
			b.Reset()
		}
	}
	return append(parts, b.String())
}

func parseWord(part string) (w word, err error) {
	name, value, valued := strings.Cut(part, "=")
	w = word{name: strings.TrimSpace(name), value: strings.TrimSpace(value), valued: valued}
	for strings.HasPrefix(w.name, "items.") {
		w.name, w.items = strings.TrimPrefix(w.name, "items."), w.items+1
	}
	kind, known := kindOf(w.name)
	switch {
	case w.name == "":
		return w, fmt.Errorf("the tag has an empty word in %q; words are separated by one semicolon", part)
	case !known:
		return w, fmt.Errorf("the tag has the word %q; the words are %s", w.name, wordNames)
	case kind == flagWord && valued:
		return w, fmt.Errorf("the word %s of the tag has no value, got %q", w, w.value)
	case kind != flagWord && (!valued || w.value == "" && kind != valueWord && kind != listWord):
		return w, fmt.Errorf("the word %s of the tag needs a value, as in %s=VALUE", w, w)
	case w.items > 0 && (w.name == "required" || w.name == "optional" || w.name == "default"):
		return w, fmt.Errorf("the word %s of the tag is about a field, not about elements", w)
	}
	return w, nil
}

// String returns the word without its value.
func (w word) String() string { return strings.Repeat("items.", w.items) + w.name }
