package controllers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

var pods = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"}

// controlled are options of a server that leaves namespaces to a controller.
var controlled = clienttest.Options{NamespaceController: true}

// conditions returns the conditions of a namespace that are true, in short, and how many there are.
func (w *world) conditions(name string) (text string, number int) {
	w.Helper()
	ns, err := client.For(w.c, namespaceType()).Get(w.Context(), meta.Key{Name: name})
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range ns.Status.Conditions {
		if c.Status == meta.ConditionTrue {
			text += fmt.Sprintln(c.Type, c.Reason, c.Message)
		}
	}
	return ns.Status.Phase + "\n" + text, len(ns.Status.Conditions)
}

func TestANamespaceGoesWithItsContents(t *testing.T) {
	inWorld(t, controlled, func(w *world) {
		ns := w.create(namespaces, "web")
		made, kept := w.create(configMaps, "web/a"), w.create(configMaps, "a")
		w.delete(ns, "")
		w.want(map[*meta.Unstructured]string{ns: "of [] waits for []", made: "of []"}) // nobody does it
		Start(w, w.server.Config(), Namespaces())
		w.want(map[*meta.Unstructured]string{ns: "gone", made: "gone", kept: "of []"})

		ns = w.create(namespaces, "web")
		made = w.create(configMaps, "web/a")
		w.delete(ns, "")
		w.want(map[*meta.Unstructured]string{ns: "gone", made: "gone"})
	})
}

func TestANamespaceWaitsForFinalizers(t *testing.T) {
	inWorld(t, controlled, func(w *world) {
		Start(w, w.server.Config(), Namespaces())
		ns := w.create(namespaces, "web")
		made := w.create(configMaps, "web/a")
		w.create(secrets, "web/b")
		w.hold(made)
		w.delete(ns, "")
		synctest.Wait()
		got, number := w.conditions("web")
		if want := "Terminating\nNamespaceContentRemaining SomeResourcesRemain Some resources are remaining: configmaps. has 1 resource instances\n" +
			"NamespaceFinalizersRemaining SomeFinalizersRemain Some content in the namespace has finalizers remaining: " +
			"example.com/hold in 1 resource instances\n"; got != want || number != 5 {
			w.Errorf("%d conditions:\n%s, want\n%s", number, got, want)
		}
		w.letGo(made)
		w.want(map[*meta.Unstructured]string{ns: "of [] waits for []"})
		time.Sleep(finalizing/2 + time.Second)
		w.want(map[*meta.Unstructured]string{ns: "gone"})
	})
}

func TestPodsGoBeforeTheRestOfANamespace(t *testing.T) {
	inWorld(t, controlled, func(w *world) {
		Start(w, w.server.Config(), Namespaces())
		ns := w.create(namespaces, "web")
		o := &meta.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "web", "name": "slow"},
			"spec": map[string]any{
				"nodeName": "n", "terminationGracePeriodSeconds": 60, "containers": []any{map[string]any{"name": "a", "image": "b"}},
			},
		}}
		pod, err := client.For(w.c, pods).Create(w.Context(), o)
		if err != nil {
			w.Fatal(err)
		}
		made := w.create(configMaps, "web/a")
		w.delete(ns, "")
		w.want(map[*meta.Unstructured]string{made: "of []"})
		if got, number := w.conditions("web"); got != "Terminating\n" || number != 5 {
			w.Errorf("%d conditions:\n%s", number, got)
		}
		if err := client.For(w.c, pods).Delete(w.Context(), meta.KeyOf(pod), client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
			w.Fatal(err)
		}
		time.Sleep(31 * time.Second)
		w.want(map[*meta.Unstructured]string{ns: "gone", made: "gone"})
	})
}

func TestContentThatCannotBeDeletedIsInTheStatus(t *testing.T) {
	inWorld(t, controlled, func(w *world) {
		Start(w, w.server.Config(), Namespaces())
		ns := w.create(namespaces, "web")
		made := w.create(configMaps, "web/a")
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/namespaces/web/configmaps") {
				return clienttest.Answer(meta.Status{Code: http.StatusForbidden, Reason: "Forbidden", Message: "no"})
			}
			return nil
		})
		w.delete(ns, "")
		synctest.Wait()
		if got, _ := w.conditions("web"); !strings.Contains(got, "NamespaceDeletionContentFailure ContentDeletionFailed Failed to delete all resource types, 1 remaining: ") {
			w.Errorf("the conditions are %s", got)
		}
		w.server.Intercept(nil)
		time.Sleep(2 * time.Minute) // for the retry
		w.want(map[*meta.Unstructured]string{ns: "gone", made: "gone"})
	})
}

func TestANamespaceKeepsTheFinalizersOfOthers(t *testing.T) {
	inWorld(t, controlled, func(w *world) {
		Start(w, w.server.Config(), Namespaces())
		ns := w.create(namespaces, "web")
		w.hold(ns)
		w.delete(ns, "")
		w.want(map[*meta.Unstructured]string{ns: "of [] waits for [example.com/hold]"})
		live, err := client.For(w.c, namespaceType()).Get(w.Context(), meta.Key{Name: "web"})
		if err != nil || len(live.Spec.Finalizers) != 0 {
			w.Errorf("the namespace is %+v, %v", live, err)
		}
		w.letGo(ns)
		w.want(map[*meta.Unstructured]string{ns: "gone"})
	})
}
