// Package protobuf translates the few requests that kubectl sends as protobuf into JSON.
//
// kubectl create, certificate and auth send the compiled-in types in that form, and know no other form if a server refuses it.
// So the server reads the types for which kubectl has simple commands; it never writes any. The field numbers are those of the
// generated.proto files of k8s.io/api and k8s.io/apimachinery, which are part of the API.
package protobuf

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// MediaType is the type of such a body.
const MediaType = "application/vnd.kubernetes.protobuf"

// magic is the start of a protobuf body; a message of k8s.io.apimachinery.pkg.runtime.Unknown follows.
const magic = "k8s\x00"

// fieldType says how a field becomes JSON.
type fieldType int

const (
	text fieldType = iota
	blob
	integer
	boolean
	timestamp
	texts     // repeated string
	textMap   // map<string, string>
	blobMap   // map<string, bytes>
	message   // another message
	messages  // repeated messages
	unwritten // a field that only the server sets
)

type field struct {
	name   string
	typ    fieldType
	fields Message // of a message
}

// Message has the fields of a message by their numbers.
type Message map[uint64]field

// Kinds returns the fields of the kinds that can be read.
func Kinds() map[string]Message {
	objectMeta := field{"metadata", message, Message{
		1: {name: "name"}, 2: {name: "generateName"}, 3: {name: "namespace"}, 4: {typ: unwritten},
		5: {name: "uid"}, 6: {name: "resourceVersion"},
		7: {name: "generation", typ: integer}, 8: {name: "creationTimestamp", typ: timestamp},
		9:  {name: "deletionTimestamp", typ: timestamp},
		10: {name: "deletionGracePeriodSeconds", typ: integer},
		11: {name: "labels", typ: textMap}, 12: {name: "annotations", typ: textMap},
		13: {"ownerReferences", messages, Message{
			1: {name: "kind"}, 3: {name: "name"}, 4: {name: "uid"}, 5: {name: "apiVersion"},
			6: {name: "controller", typ: boolean}, 7: {name: "blockOwnerDeletion", typ: boolean},
		}},
		14: {name: "finalizers", typ: texts}, 17: {typ: unwritten},
	}}
	return map[string]Message{
		"ConfigMap": {
			1: objectMeta, 2: {name: "data", typ: textMap}, 3: {name: "binaryData", typ: blobMap},
			4: {name: "immutable", typ: boolean},
		},
		"Secret": {
			1: objectMeta, 2: {name: "data", typ: blobMap}, 3: {name: "type"},
			4: {name: "stringData", typ: textMap}, 5: {name: "immutable", typ: boolean},
		},
		"Namespace": {
			1: objectMeta, 2: {"spec", message, Message{1: {name: "finalizers", typ: texts}}},
			3: {typ: unwritten},
		},
		"CertificateSigningRequest": {
			1: objectMeta,
			2: {"spec", message, Message{
				1: {name: "request", typ: blob}, 2: {typ: unwritten}, 3: {typ: unwritten}, 4: {typ: unwritten},
				5: {name: "usages", typ: texts}, 6: {typ: unwritten}, 7: {name: "signerName"},
				8: {name: "expirationSeconds", typ: integer},
			}},
			3: {"status", message, Message{
				1: {"conditions", messages, Message{
					1: {name: "type"}, 2: {name: "reason"}, 3: {name: "message"}, 4: {name: "lastUpdateTime", typ: timestamp},
					5: {name: "lastTransitionTime", typ: timestamp}, 6: {name: "status"},
				}},
				2: {name: "certificate", typ: blob},
			}},
		},
		"SelfSubjectAccessReview": {
			1: objectMeta,
			2: {"spec", message, Message{
				1: {"resourceAttributes", message, Message{
					1: {name: "namespace"}, 2: {name: "verb"}, 3: {name: "group"}, 4: {name: "version"}, 5: {name: "resource"},
					6: {name: "subresource"}, 7: {name: "name"},
				}},
				2: {"nonResourceAttributes", message, Message{1: {name: "path"}, 2: {name: "verb"}}},
			}},
			3: {typ: unwritten},
		},
		"SelfSubjectRulesReview": {
			1: objectMeta, 2: {"spec", message, Message{1: {name: "namespace"}}}, 3: {typ: unwritten},
		},
		"SelfSubjectReview": {1: objectMeta, 2: {typ: unwritten}},
	}
}

// DeleteOptions are the fields of the body of a delete.
func DeleteOptions() Message {
	return Message{
		1: {name: "gracePeriodSeconds", typ: integer},
		2: {"preconditions", message, Message{1: {name: "uid"}, 2: {name: "resourceVersion"}}},
		3: {name: "orphanDependents", typ: boolean}, 4: {name: "propagationPolicy"}, 5: {name: "dryRun", typ: texts},
	}
}

// ToJSON translates the body of a request, which holds an object that has the fields.
func ToJSON(body []byte, fields Message) ([]byte, error) {
	rest, ok := strings.CutPrefix(string(body), magic)
	if !ok {
		return nil, errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	}
	unknown, err := decode([]byte(rest), Message{
		1: {"type", message, Message{1: {name: "apiVersion"}, 2: {name: "kind"}}},
		2: {name: "raw", typ: blob}, 3: {typ: unwritten}, 4: {typ: unwritten},
	})
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(unknown["raw"]))
	if err != nil {
		return nil, err
	}
	object, err := decode(raw, fields)
	if err != nil {
		return nil, err
	}
	typ, _ := unknown["type"].(jsontree.Object)
	for k, v := range typ {
		object[k] = v
	}
	return jsontree.Append(nil, object), nil
}

// decode reads one message. A field that is not listed is an error, so that no unknown field gets lost.
func decode(b []byte, fields Message) (jsontree.Object, error) {
	m := jsontree.Object{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errMalformed
		}
		b = b[n:]
		f, found := fields[tag>>3]
		if !found {
			return nil, fmt.Errorf("field %d of the protobuf message is not supported here", tag>>3)
		}
		number, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errMalformed
		}
		b = b[n:]
		switch tag & 7 {
		case 0: // a number
			switch f.typ {
			case integer:
				m[f.name] = json.Number(fmt.Sprint(int64(number)))
			case boolean:
				m[f.name] = number != 0
			}
		case 2: // bytes, of a length
			if number > uint64(len(b)) {
				return nil, errMalformed
			}
			if err := f.add(m, b[:number]); err != nil {
				return nil, err
			}
			b = b[number:]
		default:
			return nil, errMalformed
		}
	}
	return m, nil
}

var errMalformed = errors.New("proto: illegal wireType or unexpected end of the message")

// add adds a field that has a length to m.
func (f field) add(m jsontree.Object, b []byte) error {
	switch f.typ {
	case text:
		if len(b) > 0 {
			m[f.name] = string(b)
		}
	case blob:
		m[f.name] = base64.StdEncoding.EncodeToString(b)
	case texts:
		texts, _ := m[f.name].([]any)
		m[f.name] = append(texts, string(b))
	case textMap, blobMap:
		value := field{"value", text, nil}
		if f.typ == blobMap {
			value.typ = blob
		}
		entry, err := decode(b, Message{1: {name: "key"}, 2: value})
		if err != nil {
			return err
		}
		values, _ := m[f.name].(jsontree.Object)
		if values == nil {
			values = jsontree.Object{}
			m[f.name] = values
		}
		key, _ := entry["key"].(string)
		text, _ := entry["value"].(string)
		values[key] = text
	case timestamp:
		t, err := decode(b, Message{1: {name: "seconds", typ: integer}, 2: {typ: unwritten}})
		if err != nil {
			return err
		}
		if seconds, ok := t["seconds"].(json.Number); ok {
			n, _ := seconds.Int64()
			m[f.name] = time.Unix(n, 0).UTC().Format(time.RFC3339)
		}
	case message, messages:
		sub, err := decode(b, f.fields)
		if err != nil {
			return err
		}
		if f.typ == message {
			m[f.name] = sub
			return nil
		}
		subs, _ := m[f.name].([]any)
		m[f.name] = append(subs, sub)
	}
	return nil
}
