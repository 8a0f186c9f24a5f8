package canned

// This file serves the same objects in protobuf, to clients that name it first in Accept.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	protobufType = "application/vnd.kubernetes.protobuf"
	magic        = "k8s\x00"
)

// message is one object in protobuf.
type message struct {
	item  []byte // in a list
	added []byte // the event of a streaming list
	event []byte // a later event, with a placeholder for its version; the field at is its index
	at    int
}

// marshaller is an object that has a form in protobuf.
type marshaller interface {
	metav1.Object
	Marshal() ([]byte, error)
}

// newMessage returns an object in protobuf.
func newMessage(obj marshaller, apiVersion, kind string) (message, error) {
	item, err := obj.Marshal()
	if err != nil {
		return message{}, err
	}
	added, err := frame("ADDED", apiVersion, kind, item)
	if err != nil {
		return message{}, err
	}
	version := obj.GetResourceVersion()
	next := strconv.Itoa(initialVersion + 1)
	obj.SetResourceVersion(next)
	later, err := obj.Marshal()
	if err != nil {
		return message{}, err
	}
	event, err := frame("MODIFIED", apiVersion, kind, later)
	at := bytes.Index(event, []byte(next))
	obj.SetResourceVersion(version)
	return message{item, added, event, at}, err
}

// envelope returns an object as bodies and events have it.
func envelope(apiVersion, kind string, object []byte) ([]byte, error) {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: object}
	b, err := u.Marshal()
	return append([]byte(magic), b...), err
}

// frame returns an event of a watch.
func frame(typ, apiVersion, kind string, object []byte) ([]byte, error) {
	whole, err := envelope(apiVersion, kind, object)
	if err != nil {
		return nil, err
	}
	e := metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: whole}}
	b, err := e.Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), err
}

// wantsProtobuf reports whether a request asks for protobuf first.
func wantsProtobuf(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), protobufType)
}

// writeList writes a page.
func (s *Server) writeList(w io.Writer, page []message, version int, token string, remaining int) error {
	meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(version), Continue: token}
	if token != "" {
		n := int64(remaining)
		meta.RemainingItemCount = &n
	}
	head, err := meta.Marshal()
	if err != nil {
		return err
	}
	head = field(nil, 1, head)
	size := len(head)
	for _, p := range page {
		size += len(field(nil, 2, nil)) - 1 + len(binary.AppendUvarint(nil, uint64(len(p.item)))) + len(p.item)
	}
	typeMeta := runtime.TypeMeta{APIVersion: s.apiVersion, Kind: s.kind + "List"}
	kind, err := typeMeta.Marshal()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(magic)
	out.Write(field(nil, 1, kind))
	out.Write(binary.AppendUvarint([]byte{2<<3 | 2}, uint64(size)))
	out.Write(head)
	var tag []byte
	for _, p := range page {
		tag = binary.AppendUvarint(append(tag[:0], 2<<3|2), uint64(len(p.item)))
		out.Write(tag)
		out.Write(p.item)
	}
	out.Write([]byte{3<<3 | 2, 0, 4<<3 | 2, 0})
	return out.Flush()
}

// field appends a length-delimited field.
func field(b []byte, number byte, content []byte) []byte {
	return append(binary.AppendUvarint(append(b, number<<3|2), uint64(len(content))), content...)
}

// writeInitial writes the events of a streaming list.
func (s *Server) writeInitial(out *bufio.Writer) error {
	for _, o := range s.objects {
		out.Write(o.binary.added)
	}
	end := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: fmt.Sprint(s.advance(0)), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	return writeEvent(out, "BOOKMARK", s.apiVersion, s.kind, &end) // every kind has the metadata of a pod
}

// writeExpired writes the event that ends a watch.
func writeExpired(out *bufio.Writer) error {
	return writeEvent(out, "ERROR", "v1", "Status", &metav1.Status{
		Status: metav1.StatusFailure, Message: "too old resource version", Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	})
}

func writeEvent(out *bufio.Writer, typ, apiVersion, kind string, object interface{ Marshal() ([]byte, error) }) error {
	b, err := object.Marshal()
	if err != nil {
		return err
	}
	if b, err = frame(typ, apiVersion, kind, b); err == nil {
		_, err = out.Write(b)
	}
	return err
}
