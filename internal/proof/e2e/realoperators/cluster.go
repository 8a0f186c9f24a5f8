package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/bowline-go/bowline/internal/controlplane"
)

// cluster is a control plane, reached without the storm's proxy. Its client is client-go's, because it judges ours.
type cluster struct {
	plane *controlplane.ControlPlane
	dynamic.Interface
}

func startCluster(ctx context.Context) (*cluster, error) {
	p, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	c, err := dynamic.NewForConfig(&rest.Config{
		Host: p.Server, BearerToken: p.Token, TLSClientConfig: rest.TLSClientConfig{CAData: p.CA}, QPS: -1,
		WarningHandler: rest.NoWarnings{},
	})
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return &cluster{p, c}, nil
}

// at returns the resource, in the namespace if the object is in one.
func (c *cluster) at(resource schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.Resource(resource)
	}
	return c.Resource(resource).Namespace(namespace)
}

// object returns an object from a text of YAML.
func object(format string, args ...any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, format, args...))
	if err == nil {
		err = o.UnmarshalJSON(text) // UnmarshalJSON keeps whole numbers
	}
	if err != nil {
		panic(fmt.Sprintf("a text of this program: %v", err))
	}
	return o
}

// create creates an object, with its status if it has one.
func (c *cluster) create(ctx context.Context, resource schema.GroupVersionResource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at := c.at(resource, o.GetNamespace())
	made, err := at.Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if status, found := o.Object["status"]; found {
		made.Object["status"] = status
		made, err = at.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	return made, err
}

// patch sends a merge patch, of the object or of its status. It is not an error if the object no longer exists.
func (c *cluster) patch(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, change map[string]any, subresource ...string) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = c.at(resource, namespace).Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, subresource...)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *cluster) remove(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) error {
	err := c.at(resource, namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// list returns the objects that are in the operator's namespace, or in none.
func (c *cluster) list(ctx context.Context, resources ...schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, resource := range resources {
		l, err := c.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		for _, o := range l.Items {
			if n := o.GetNamespace(); n == "" || n == namespace {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define creates a CustomResourceDefinition and waits until it is served.
func (c *cluster) define(ctx context.Context, text []byte) error {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &o.Object); err != nil {
		return err
	}
	delete(o.Object, "status")
	if _, err := c.create(ctx, definitions, o); err != nil {
		return fmt.Errorf("create %s: %w", o.GetName(), err)
	}
	return wait(ctx, time.Minute, 50*time.Millisecond, func() (string, error) {
		got, err := c.Resource(definitions).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		for _, each := range conditions {
			if condition, ok := each.(map[string]any); ok && condition["type"] == "Established" && condition["status"] == "True" {
				return "", nil
			}
		}
		return o.GetName() + " is not served", nil
	})
}

// install makes the namespace, the operator's custom resources, and what the operator needs to start.
func (c *cluster) install(ctx context.Context, o *operator, b binaries) error {
	if _, err := c.create(ctx, namespaces, object("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}", namespace)); err != nil {
		return err
	}
	for _, d := range o.definitions {
		text, err := b.read(ctx, d)
		if err != nil {
			return err
		}
		if err := c.define(ctx, text); err != nil {
			return err
		}
	}
	return o.configure(ctx, c)
}

// compact makes etcd forget every revision but the present one, through its JSON gateway.
func (c *cluster) compact(ctx context.Context) error {
	call := func(path, body string, into any) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.plane.Etcd+path, bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("etcd answers %s %s: %w", resp.Status, text, err)
		}
		return json.Unmarshal(text, into)
	}
	var got struct{ Header struct{ Revision string } }
	if err := call("/v3/kv/range", `{"key":"AA=="}`, &got); err != nil {
		return err
	}
	if _, err := strconv.ParseInt(got.Header.Revision, 10, 64); err != nil {
		return err
	}
	return call("/v3/kv/compaction", `{"revision":"`+got.Header.Revision+`"}`, &struct{}{})
}

// wait calls lacks again and again until it returns "", or until limit has passed. The error says what was lacking.
func wait(ctx context.Context, limit, interval time.Duration, lacks func() (string, error)) error {
	deadline := time.Now().Add(limit)
	for {
		lack, err := lacks()
		if err != nil || lack == "" {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v: %s", limit, lack)
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// each calls do for 0 to n-1, sixteen at a time, and returns the first error.
func each(ctx context.Context, n int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
