package migrating

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// setClientGo sets one value of a ConfigMap, even if others write to it at the same time.
func setClientGo(ctx context.Context, clientset kubernetes.Interface, namespace, name, value string) error {
	maps := clientset.CoreV1().ConfigMaps(namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		m, err := maps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if m.Data == nil {
			m.Data = make(map[string]string)
		}
		m.Data["value"] = value
		_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
		return err
	})
}

// set does the same.
func set(ctx context.Context, c *client.Client, namespace, name, value string) error {
	_, err := client.For(c, ConfigMaps).Modify(ctx, meta.Key{Namespace: namespace, Name: name}, func(m *ConfigMap) error {
		if m.Data == nil {
			m.Data = make(map[string]string)
		}
		m.Data["value"] = value
		return nil
	})
	return err
}

// ensureRuntime makes the server have a ConfigMap with a text. It says whether it has written.
func ensureRuntime(ctx context.Context, c crclient.Client, namespace, name, text string) (bool, error) {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	did, err := controllerutil.CreateOrUpdate(ctx, c, m, func() error {
		if m.Data == nil {
			m.Data = make(map[string]string)
		}
		m.Data["text"] = text
		return nil
	})
	return did != controllerutil.OperationResultNone, err
}

// ensure does the same. It also finds out if the server does not keep a field, and never changes fields that want
// leaves out.
func ensure(ctx context.Context, c *client.Client, namespace, name, text string) (bool, error) {
	want := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"text": text}}
	_, did, err := client.For(c, ConfigMaps).Ensure(ctx, want, client.EnsureOptions{})
	return did.Outcome != client.Unchanged, err
}
