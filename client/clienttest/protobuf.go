package clienttest

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

// kubectl create, certificate and auth send the compiled-in types as protobuf, and take no other way when a server refuses that. So the
// server reads the few that kubectl has simple commands for; it never writes any. The field numbers are those of the
// generated.proto files of k8s.io/api and k8s.io/apimachinery, which are part of the API.

const mediaProtobuf = "application/vnd.kubernetes.protobuf"

// protoMagic is what a protobuf body starts with; a message of k8s.io.apimachinery.pkg.runtime.Unknown follows.
const protoMagic = "k8s\x00"

// protoType says how a field becomes JSON.
type protoType int

const (
	protoText protoType = iota
	protoBytes
	protoInt
	protoBool
	protoTime
	protoTexts     // repeated string
	protoTextMap   // map<string, string>
	protoBytesMap  // map<string, bytes>
	protoMessage   // another message
	protoMessages  // repeated messages
	protoUnwritten // a field that a client does not decide
)

type protoField struct {
	name   string
	typ    protoType
	fields protoFields // of a message
}

type protoFields map[uint64]protoField

// protoKinds returns the fields of the kinds that can be read.
func protoKinds() map[string]protoFields {
	objectMeta := protoField{"metadata", protoMessage, protoFields{
		1: {name: "name"}, 2: {name: "generateName"}, 3: {name: "namespace"}, 4: {typ: protoUnwritten},
		5: {name: "uid"}, 6: {name: "resourceVersion"},
		7: {name: "generation", typ: protoInt}, 8: {name: "creationTimestamp", typ: protoTime},
		9:  {name: "deletionTimestamp", typ: protoTime},
		10: {name: "deletionGracePeriodSeconds", typ: protoInt},
		11: {name: "labels", typ: protoTextMap}, 12: {name: "annotations", typ: protoTextMap},
		13: {"ownerReferences", protoMessages, protoFields{
			1: {name: "kind"}, 3: {name: "name"}, 4: {name: "uid"}, 5: {name: "apiVersion"},
			6: {name: "controller", typ: protoBool}, 7: {name: "blockOwnerDeletion", typ: protoBool},
		}},
		14: {name: "finalizers", typ: protoTexts}, 17: {typ: protoUnwritten},
	}}
	return map[string]protoFields{
		"ConfigMap": {
			1: objectMeta, 2: {name: "data", typ: protoTextMap}, 3: {name: "binaryData", typ: protoBytesMap},
			4: {name: "immutable", typ: protoBool},
		},
		"Secret": {
			1: objectMeta, 2: {name: "data", typ: protoBytesMap}, 3: {name: "type"},
			4: {name: "stringData", typ: protoTextMap}, 5: {name: "immutable", typ: protoBool},
		},
		"Namespace": {
			1: objectMeta, 2: {"spec", protoMessage, protoFields{1: {name: "finalizers", typ: protoTexts}}},
			3: {typ: protoUnwritten},
		},
		"CertificateSigningRequest": {
			1: objectMeta,
			2: {"spec", protoMessage, protoFields{
				1: {name: "request", typ: protoBytes}, 2: {typ: protoUnwritten}, 3: {typ: protoUnwritten}, 4: {typ: protoUnwritten},
				5: {name: "usages", typ: protoTexts}, 6: {typ: protoUnwritten}, 7: {name: "signerName"},
				8: {name: "expirationSeconds", typ: protoInt},
			}},
			3: {"status", protoMessage, protoFields{
				1: {"conditions", protoMessages, protoFields{
					1: {name: "type"}, 2: {name: "reason"}, 3: {name: "message"}, 4: {name: "lastUpdateTime", typ: protoTime},
					5: {name: "lastTransitionTime", typ: protoTime}, 6: {name: "status"},
				}},
				2: {name: "certificate", typ: protoBytes},
			}},
		},
		"SelfSubjectAccessReview": {
			1: objectMeta,
			2: {"spec", protoMessage, protoFields{
				1: {"resourceAttributes", protoMessage, protoFields{
					1: {name: "namespace"}, 2: {name: "verb"}, 3: {name: "group"}, 4: {name: "version"}, 5: {name: "resource"},
					6: {name: "subresource"}, 7: {name: "name"},
				}},
				2: {"nonResourceAttributes", protoMessage, protoFields{1: {name: "path"}, 2: {name: "verb"}}},
			}},
			3: {typ: protoUnwritten},
		},
		"SelfSubjectRulesReview": {
			1: objectMeta, 2: {"spec", protoMessage, protoFields{1: {name: "namespace"}}}, 3: {typ: protoUnwritten},
		},
		"SelfSubjectReview": {1: objectMeta, 2: {typ: protoUnwritten}},
	}
}

// protoDeleteOptions are the fields of the body of a delete.
func protoDeleteOptions() protoFields {
	return protoFields{
		1: {name: "gracePeriodSeconds", typ: protoInt},
		2: {"preconditions", protoMessage, protoFields{1: {name: "uid"}, 2: {name: "resourceVersion"}}},
		3: {name: "orphanDependents", typ: protoBool}, 4: {name: "propagationPolicy"}, 5: {name: "dryRun", typ: protoTexts},
	}
}

// protobufToJSON translates the body of a request, which holds an object that has the fields.
func protobufToJSON(body []byte, fields protoFields) ([]byte, error) {
	rest, ok := strings.CutPrefix(string(body), protoMagic)
	if !ok {
		return nil, errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	}
	unknown, err := decodeProto([]byte(rest), protoFields{
		1: {"type", protoMessage, protoFields{1: {name: "apiVersion"}, 2: {name: "kind"}}},
		2: {name: "raw", typ: protoBytes}, 3: {typ: protoUnwritten}, 4: {typ: protoUnwritten},
	})
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(unknown["raw"]))
	if err != nil {
		return nil, err
	}
	object, err := decodeProto(raw, fields)
	if err != nil {
		return nil, err
	}
	typ, _ := unknown["type"].(jsontree.Object)
	for k, v := range typ {
		object[k] = v
	}
	return jsontree.Append(nil, object), nil
}

// decodeProto reads one message. A field that is not listed is an error: what is not understood must not get lost.
func decodeProto(b []byte, fields protoFields) (jsontree.Object, error) {
	m := jsontree.Object{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errProto
		}
		b = b[n:]
		f, found := fields[tag>>3]
		if !found {
			return nil, fmt.Errorf("field %d of the protobuf message is not supported here", tag>>3)
		}
		number, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errProto
		}
		b = b[n:]
		switch tag & 7 {
		case 0: // a number
			switch f.typ {
			case protoInt:
				m[f.name] = json.Number(fmt.Sprint(int64(number)))
			case protoBool:
				m[f.name] = number != 0
			}
		case 2: // bytes, of a length
			if number > uint64(len(b)) {
				return nil, errProto
			}
			if err := f.add(m, b[:number]); err != nil {
				return nil, err
			}
			b = b[number:]
		default:
			return nil, errProto
		}
	}
	return m, nil
}

var errProto = errors.New("proto: illegal wireType or unexpected end of the message")

// add puts a field that has a length into m.
func (f protoField) add(m jsontree.Object, b []byte) error {
	switch f.typ {
	case protoText:
		if len(b) > 0 {
			m[f.name] = string(b)
		}
	case protoBytes:
		m[f.name] = base64.StdEncoding.EncodeToString(b)
	case protoTexts:
		texts, _ := m[f.name].([]any)
		m[f.name] = append(texts, string(b))
	case protoTextMap, protoBytesMap:
		value := protoField{"value", protoText, nil}
		if f.typ == protoBytesMap {
			value.typ = protoBytes
		}
		entry, err := decodeProto(b, protoFields{1: {name: "key"}, 2: value})
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
	case protoTime:
		t, err := decodeProto(b, protoFields{1: {name: "seconds", typ: protoInt}, 2: {typ: protoUnwritten}})
		if err != nil {
			return err
		}
		if seconds, ok := t["seconds"].(json.Number); ok {
			n, _ := seconds.Int64()
			m[f.name] = time.Unix(n, 0).UTC().Format(time.RFC3339)
		}
	case protoMessage, protoMessages:
		sub, err := decodeProto(b, f.fields)
		if err != nil {
			return err
		}
		if f.typ == protoMessage {
			m[f.name] = sub
			return nil
		}
		subs, _ := m[f.name].([]any)
		m[f.name] = append(subs, sub)
	}
	return nil
}
