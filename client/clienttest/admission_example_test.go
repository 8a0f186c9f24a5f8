package clienttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The webhook of a program is asked about each config map. The configuration is that of the program's manifests.
func ExampleOptions_services() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID  string `json:"uid"`
				Name string `json:"name"`
			} `json:"request"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": map[string]any{
				"uid": review.Request.UID, "allowed": review.Request.Name != "forbidden", "status": map[string]any{"message": "choose another name"},
			},
		})
	})
	server := clienttest.New(clienttest.Options{
		Objects:  []string{"testdata/webhooks.yaml"},
		Services: map[string]http.Handler{"web/hooks": handler},
	})
	created(server)
	// Output:
	// allowed: <nil>
	// forbidden: create configmaps "default/forbidden": server said BadRequest (400): admission webhook "names.example.com" denied the request: choose another name
}

// A function decides as the policies of a cluster do.
func ExampleOptions_validate() {
	server := clienttest.New(clienttest.Options{Validate: func(_ context.Context, a *clienttest.Admission) error {
		if a.Operation == "CREATE" && a.Key.Name == "forbidden" {
			return fmt.Errorf("%s may not have this name", a.Resource.Resource)
		}
		return nil
	}})
	created(server)
	// Output:
	// allowed: <nil>
	// forbidden: create configmaps "default/forbidden": server said Forbidden (403): configmaps "forbidden" is forbidden: configmaps may not have this name
}

// created creates two config maps, and prints the errors.
func created(server *clienttest.Server) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	maps := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).In("default")
	for _, name := range []string{"allowed", "forbidden"} {
		_, err := maps.Create(ctx, &meta.Partial{ObjectMeta: meta.ObjectMeta{Name: name}})
		fmt.Printf("%s: %v\n", name, err)
	}
	c.Close()
	stop()
	<-done
}
