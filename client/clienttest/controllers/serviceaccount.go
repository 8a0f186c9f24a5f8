package controllers

import (
	"context"
	"errors"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// ServiceAccounts returns the controller that gives each namespace the service account "default", and makes it again if
// it is deleted.
func ServiceAccounts() Controller { return serviceAccountController{} }

type serviceAccountController struct{}

func (serviceAccountController) name() string { return "service account controller" }

// defaultAccount is the name of the service account of pods that name no other.
const defaultAccount = "default"

type serviceAccount struct {
	meta.ObjectMeta `json:"metadata"`
}

func serviceAccountType() client.Type[*serviceAccount] {
	return client.Type[*serviceAccount]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"}
}

// activeNamespace has the fields of a namespace that say whether it is in use.
type activeNamespace struct {
	meta.ObjectMeta `json:"metadata"`
	Status          struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status,omitzero"`
}

func activeNamespaceType() client.Type[*activeNamespace] {
	return client.Type[*activeNamespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
}

func (serviceAccountController) run(ctx context.Context, env *environment) error {
	accounts := client.For(env.client, serviceAccountType())
	accountCache, namespaces := cached(env, serviceAccountType()), cached(env, activeNamespaceType())
	reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
		namespace, found := namespaces.Reader().Get(key)
		if !found || namespace.Status.Phase != "Active" {
			return controller.Result{}, nil
		}
		account := meta.Key{Namespace: namespace.Name, Name: defaultAccount}
		if _, found := accountCache.Reader().Get(account); found {
			return controller.Result{}, nil
		}
		_, err := accounts.Create(ctx, &serviceAccount{ObjectMeta: account.ObjectMeta()})
		if errors.Is(err, apierrors.AlreadyExists) || errors.Is(err, apierrors.NotFound) { // it exists, or its namespace has gone
			err = nil
		}
		return controller.Result{}, ignoreEnding(err)
	}
	return informer.Run(ctx, controller.New("serviceaccounts", controller.Options{Workers: workers}, reconcile,
		controller.Watch(namespaces),
		controller.Map(accountCache, func(a *serviceAccount) []meta.Key { return []meta.Key{{Name: a.Namespace}} }),
		controller.Fresh[meta.Key](accountCache)))
}
