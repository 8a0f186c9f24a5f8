package debug_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/debug"
)

// hostile are texts that would be more than text in a page that does not escape them.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	`</td></tr></table><iframe src="javascript:alert(1)">`,
	`javascript:alert(1)`,
	`&lt;b&gt; &amp;quot;`,
	"line one\r\n\r\nevent: x\ndata: y\n\n<!-- ",
	"\x00\x1b[31mred\x1b[0m\u202eesrever\u2066 \ufeff",
	"]]></pre><base href=//evil>",
	"\xff\xfe invalid",
	"{{.}} ${alert(1)} %s %d",
}

// source is a list of things whose names no server would take.
type source struct{ things []*Thing }

func (s source) GVR() meta.GVR {
	return meta.GVR{Group: hostile[1], Version: "v1", Resource: hostile[0]}
}

func (s source) ListEach(_ context.Context, _ client.ListOptions, _ func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error) (meta.ListMeta, error) {
	for _, thing := range s.things {
		id := meta.Identity{Namespace: thing.Namespace, Name: thing.Name, UID: thing.UID, ResourceVersion: thing.ResourceVersion}
		if err := fn(client.Item[*Thing]{Object: thing, Identity: id}); err != nil {
			return meta.ListMeta{}, err
		}
	}
	return meta.ListMeta{ResourceVersion: hostile[2]}, nil
}

func (s source) WatchEach(ctx context.Context, _ client.WatchOptions, _ func(meta.Identity) (*Thing, bool), fn func(client.Event[*Thing]) error) error {
	id := meta.Identity{Namespace: hostile[0], Name: hostile[6], ResourceVersion: hostile[6]}
	if err := fn(client.Event[*Thing]{Type: client.EventType(hostile[3]), Identity: id, Err: errors.New(hostile[3])}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestHostileTextsStayTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := debug.Options{Title: hostile[0], Objects: true}
		r := &rig{T: t, page: newPage(t, o)}
		var things []*Thing
		for _, text := range hostile {
			things = append(things, &Thing{
				ObjectMeta: meta.ObjectMeta{
					Namespace: text, Name: text, UID: text, ResourceVersion: text, Labels: map[string]string{text: text}, Annotations: map[string]string{text: text},
				},
				Data: map[string]string{text: text},
			})
		}
		inf := informer.New[*Thing](source{things}, informer.Options{OnError: func(error) {}})
		keys := make(chan string)
		ctl := controller.New(hostile[0], controller.Options{OnError: func(error) {}, MinBackoff: time.Hour, MaxBackoff: time.Hour},
			func(_ context.Context, key string) (controller.Result, error) {
				return controller.Result{}, errors.New(key)
			}, controller.Chan(keys))
		r.run(inf, ctl)
		for _, text := range hostile {
			keys <- text
		}
		time.Sleep(time.Second)
		cache := r.JSON("/", "caches", 0, "id").(string)
		addresses := []string{"/", "/?events", "/?cache=" + url.QueryEscape(cache), "/?controller=" + url.QueryEscape(hostile[0])}
		for _, text := range hostile {
			q := url.QueryEscape(text)
			addresses = append(addresses,
				"/?cache="+q, "/?controller="+q, "/?asset="+q, "/?events&kind="+q+"&q="+q, "/?object="+q+"&cache="+url.QueryEscape(cache),
				"/?cache="+url.QueryEscape(cache)+"&q="+q+"&after="+q, "/?controller="+url.QueryEscape(hostile[0])+"&q="+q,
				"/?cache="+url.QueryEscape(cache)+"&object="+url.QueryEscape(text+"/"+text))
		}
		seen := 0
		for _, address := range addresses {
			_, body := get(t, r.page, address)
			checkHTML(t, body)
			if strings.ContainsAny(body, "\x00\x1b\u202e\u2066\ufeff\r") || strings.ToValidUTF8(body, "") != body {
				t.Errorf("%s has characters that change what is seen", address)
			}
			if strings.Contains(body, "&lt;script&gt;alert(1)&lt;/script&gt;") {
				seen++
			}
			q := httptest.NewRequest("GET", address, nil)
			q.Header.Set("Accept", "application/json")
			if _, body := ask(r.page, q); !json.Valid([]byte(body)) || strings.ContainsAny(body, "<>") {
				t.Errorf("%s as JSON: %s", address, body)
			}
		}
		if seen < len(hostile) {
			t.Errorf("only %d pages show the texts at all", seen)
		}
	})
}
