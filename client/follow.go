package client

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// This file calls the functions of a context that stop its requests, or that learn of its writes; see package follow.

// gated makes each read of hr's body fail once the gate of ctx has closed, so that nothing is written after that,
// however long the connection took or the process was stopped. The transport reads the body right before it sends it,
// and a server does not process a request whose body is cut.
func gated(ctx context.Context, hr *http.Request) {
	open := follow.OpenGate(ctx)
	if open == nil || hr.Body == nil || hr.GetBody == nil {
		return
	}
	whole := hr.GetBody
	hr.GetBody = func() (io.ReadCloser, error) {
		body, err := whole()
		return &gatedBody{body, open}, err
	}
	hr.Body, _ = hr.GetBody() // a bytes.Reader never fails
}

type gatedBody struct {
	io.ReadCloser
	open func() error
}

func (b *gatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if closed := b.open(); closed != nil {
		return 0, closed
	}
	return n, err
}

// stopped returns why ctx stops its requests, or nil.
func stopped(ctx context.Context) error {
	if open := follow.OpenGate(ctx); open != nil {
		return open()
	}
	return nil
}

// wrote tells ctx of a write whose answer is the object.
func (r resource) wrote(ctx context.Context, q request, stored jsonstream.Item) {
	tell := follow.OnWrite(ctx)
	if tell == nil || q.method() == http.MethodGet || stored.ResourceVersion == "" || q.query.Has("dryRun") {
		return
	}
	key := q.key
	key.Name = cmp.Or(key.Name, stored.Name)
	tell(follow.Write{
		Server: r.c.server.Redacted(), Verb: q.verb, Resource: r.t.GVR(), Key: key, Subresource: q.subresource,
		UID: stored.UID, ResourceVersion: stored.ResourceVersion, Manager: r.manager(),
		Sent: q.body, Answer: stored.Raw,
		OwnKind: r.own, Read: func(ctx context.Context) ([]byte, error) { return r.whole(ctx, key) },
	})
}

// deleted tells ctx of a deletion. The server answers with the object if that still exists for a while, and otherwise
// with a Status.
func (r resource) deleted(ctx context.Context, q request, answer []byte) {
	tell := follow.OnWrite(ctx)
	var body struct {
		Kind     string `json:"kind"`
		Metadata struct {
			UID               string `json:"uid"`
			ResourceVersion   string `json:"resourceVersion"`
			DeletionTimestamp string `json:"deletionTimestamp"`
		} `json:"metadata"` // an object's or a Status's
		Details struct {
			UID string `json:"uid"`
		} `json:"details"`
	}
	dryRun := q.isIdempotent()
	if tell == nil || q.verb != "delete" || dryRun || json.Unmarshal(answer, &body) != nil {
		return
	}
	w := follow.Write{Server: r.c.server.Redacted(), Verb: q.verb, Resource: r.t.GVR(), Key: q.key, UID: body.Metadata.UID}
	switch {
	case body.Kind == "Status":
		w.UID = body.Details.UID
		if _, ordered := meta.CompareVersions(body.Metadata.ResourceVersion, body.Metadata.ResourceVersion); ordered {
			w.DeletedAt = body.Metadata.ResourceVersion
		}
	case body.Metadata.DeletionTimestamp != "": // some resources answer with the object although it is gone
		w.ResourceVersion = body.Metadata.ResourceVersion
	}
	tell(w)
}

// whole reads the object of a handle, or of a subresource, as JSON with managedFields.
func (r resource) whole(ctx context.Context, key meta.Key) ([]byte, error) {
	q := r.request("get", key)
	resp, err := r.send(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	item, err := jsonstream.ReadObject(resp.Body, r.c.streamOptions(true))
	if err != nil {
		return nil, q.fail(readError(ctx, resp, err))
	}
	return item.Raw, nil
}
