package clienttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
)

// Options say what a server serves and how. The zero value is a server in memory with the built-in resources.
type Options struct {
	// Listener accepts the server's connections, such as a TCP socket on a loopback address. The server closes it. Nil
	// means in memory: only clients with Config reach the server then, and it works under testing/synctest.
	Listener net.Listener

	// CRDs are files and folders with CustomResourceDefinitions in YAML or JSON, such as those that controller-gen
	// writes. The server has them from its start. In a folder it reads the files whose names end in .yaml, .yml or
	// .json, but no kustomization.yaml and no inner folders. Objects of other kinds are left out. Each path must lead
	// to a definition. A definition with members that its kind does not have is refused, as by kubectl.
	CRDs []string

	// Objects are files and folders with objects of all other kinds in YAML or JSON, such as the roles that controller-gen
	// writes. The server has them from its start, after the definitions of CRDs, in the order of the files and of the
	// objects in them. Custom resources whose versions a webhook converts are refused, because the server calls no webhook
	// before Run. It makes the namespaces that they are in; an object without a namespace is in "default". Folders
	// are read as those of CRDs. Each path must lead to an object, and the server must take each object.
	Objects []string

	// Replay is the path of a file that [Record] has written. The server starts with the objects of its first lists,
	// after those of Objects, and then makes the recorded changes: at their times after Run, in the order of their
	// versions. So its watches see the events of the cluster. [Server.WaitReplayed] waits for the end. See "Replay" in
	// the documentation of the package.
	Replay string

	// Rules checks the CEL rules of custom resources. Package client/clienttest/cel, a separate module, implements it.
	// If it is nil, definitions and schemas with rules are refused.
	Rules Rules

	// Resources are served in addition to the built-in ones and those of CustomResourceDefinitions.
	Resources []Resource

	// Lenient makes the server accept values that a real server would refuse. The server then checks neither the values
	// of custom resources against their schemas and CEL rules, nor those of built-in kinds against their rules. Without
	// Rules it also ignores policies and matchConditions. The server still drops the members that a schema does not
	// have, and fills in defaults. It keeps the fields of leases and pods that belong to features which are off by
	// default.
	Lenient bool

	// TLS serves https, with a certificate of a CA that is made for this server; Config carries the CA.
	TLS bool

	// HTTP2 serves HTTP/2 to clients that offer it in the TLS handshake, as those of package client do. It implies TLS.
	HTTP2 bool

	// Replicas is the number of replicas of one store behind the address, which take connections in turn; 0 means one.
	// See Server.Replica.
	Replicas int

	// Token, if set, must be every request's bearer token; the server answers other requests with 401.
	Token client.Secret

	// Authorize, if set, decides about each request for a resource, about each impersonation, and for the access
	// reviews. A refused request is answered with 403, with reason at the end of the message. Nil allows everything.
	// Paths that are not a resource's, such as those of discovery, are open to every user, and so are the reviews about
	// oneself. Authorize is not called again for an open watch. Several goroutines may call it at once.
	Authorize func(Access) (allowed bool, reason string)

	// RBAC makes the server decide by its Roles, ClusterRoles, RoleBindings and ClusterRoleBindings, as a
	// kube-apiserver with --authorization-mode=RBAC does. A client with Config may do everything, and may impersonate
	// users and service accounts to try what their roles allow. The server then starts with the roles cluster-admin,
	// admin, edit, view and those that let every user use discovery and ask about oneself. A ClusterRole with an
	// aggregationRule has the rules of the roles that it selects and no others, although no controller writes them into
	// it. RBAC and Authorize exclude each other.
	RBAC bool

	// Admit and Validate, if set, decide about each create, update and delete, and each connection to a container, as the
	// admission plugins of a real server do; see Admission. Admit comes before the webhooks and may replace a.Object: the
	// server fills in defaults and checks the result, and nobody owns the fields that Admit sets. Validate comes later and
	// sees the object as it will be stored. An error of either refuses the operation with 403 and is the reason in the
	// message. Several goroutines may call them at once. They may send requests to the server, about which they are asked
	// again. They are not asked about Options.Objects and Options.CRDs, nor about what the server itself deletes with a
	// namespace or a definition.
	Admit    func(ctx context.Context, a *Admission) error
	Validate func(ctx context.Context, a *Admission) error

	// Services are the handlers of services, by "namespace/name". They answer the webhooks whose configurations, or the
	// conversions of CustomResourceDefinitions, name these services. The server calls them over HTTPS in memory, so a
	// test needs no port, and the webhooks work under testing/synctest. The certificate is for NAME.NAMESPACE.svc. If a
	// configuration has no caBundle, the server trusts that certificate, as if a controller had written the caBundle.
	// The server calls a webhook with a url at that url. A program that serves TLS itself listens with
	// [Server.ListenService]. The configurations may be in Options.Objects, or a program creates them.
	Services map[string]http.Handler

	// Containers, if set, simulates the containers of pods; see package client/clienttest/containers. If it is nil,
	// exec, attach, log and portforward are not served. Discovery never lists them.
	Containers Containers

	// NamespaceController leaves a namespace that is being deleted to a controller, as on a real server: one of package
	// client/clienttest/controllers, or one of the test. The controller deletes the contents, and removes the
	// finalizers of the namespace, which then goes. Without a controller the namespace stays. By default the request
	// that deletes the namespace also deletes the contents.
	NamespaceController bool

	// BookmarkEvery is how often a watch that allows bookmarks gets one; 0 means a minute, as on a real server.
	BookmarkEvery time.Duration

	// StreamingLists says how the server treats a watch that asks for the initial events. The zero value serves it.
	StreamingLists StreamingLists

	// ShardedLists says how the server treats shard selectors. The zero value ignores them, as a real server does by
	// default.
	ShardedLists ShardedLists

	// DeletionVersions makes the Status of a deletion have the resource version of the deletion, as servers do from
	// Kubernetes 1.38 on.
	DeletionVersions bool
	// DropManagedFields makes the server leave out metadata.managedFields if a client asks for it in Accept, by the
	// parameter drop=metadata.managedFields (KEP-5958). By default the server ignores the parameter, as a real server
	// does up to Kubernetes 1.37.
	DropManagedFields bool

	// HistoryAge is how long the server keeps its history: the maximum age of a resource version that a watch may start
	// at, and of a continue token. 0 means 5 minutes, as on a real server. The present version is never too old,
	// however long ago the last change was. The server keeps at most 10,000 changes of each resource.
	HistoryAge time.Duration

	// history is how many changes of a resource are kept, and lag how many a watch may fall behind, because its client
	// does not read, before the server cuts it; a real server is less patient. 0 means 10,000. Tests of this package
	// set them.
	history, lag int
}

// validate returns every reason why o cannot be used.
func (o Options) validate() error {
	var errs []error
	for _, f := range []struct {
		name     string
		got      any
		negative bool
	}{
		{"BookmarkEvery", o.BookmarkEvery, o.BookmarkEvery < 0},
		{"HistoryAge", o.HistoryAge, o.HistoryAge < 0},
		{"Replicas", o.Replicas, o.Replicas < 0},
	} {
		if f.negative {
			errs = append(errs, fmt.Errorf("clienttest.Options: %s must not be negative, got %v", f.name, f.got))
		}
	}
	for name, handler := range o.Services {
		if namespace, service, _ := strings.Cut(name, "/"); namespace == "" || service == "" || strings.ContainsAny(service, "/.") {
			errs = append(errs, fmt.Errorf("clienttest.Options: Services: the key must be NAMESPACE/NAME of a service, got %q", name))
		}
		if handler == nil {
			errs = append(errs, fmt.Errorf("clienttest.Options: Services: the handler of %q must not be nil", name))
		}
	}
	if o.RBAC && o.Authorize != nil {
		errs = append(errs, errors.New("clienttest.Options: Authorize must be nil if RBAC is set"))
	}
	if o.StreamingLists < StreamingServed || o.StreamingLists > StreamingEndless {
		errs = append(errs, fmt.Errorf("clienttest.Options: StreamingLists must be StreamingServed, StreamingRefused, StreamingIgnored or StreamingEndless, got %d", o.StreamingLists))
	}
	if o.ShardedLists < ShardsIgnored || o.ShardedLists > ShardsClaimed {
		errs = append(errs, fmt.Errorf("clienttest.Options: ShardedLists must be ShardsIgnored, ShardsServed or ShardsClaimed, got %d", o.ShardedLists))
	}
	return errors.Join(errs...)
}

// StreamingLists says how the server treats watches that ask for the initial events (KEP-3157).
type StreamingLists int

const (
	// StreamingServed sends the initial events, and a bookmark that ends them.
	StreamingServed StreamingLists = iota
	// StreamingRefused answers 422, as a kube-apiserver whose feature gate WatchList is off does.
	StreamingRefused
	// StreamingIgnored ignores the parameters, as servers that do not know them do.
	StreamingIgnored
	// StreamingEndless sends the initial events and the later ones, but no bookmark until Server.Bookmark sends the one
	// that ends them. Events that happen before that bookmark are sent before it, as on some older servers.
	StreamingEndless
)

// ShardedLists says how the server treats the shard selectors of lists and watches (KEP-5866).
type ShardedLists int

const (
	// ShardsIgnored ignores the parameter, as do servers that do not know it and a kube-apiserver whose feature gate
	// ShardedListAndWatch is off.
	ShardsIgnored ShardedLists = iota
	// ShardsServed applies the selector, also to the initial events of a streaming list and to a deletecollection. The
	// shardInfo of a list of a built-in kind says so. As on a real server, lists of custom resources, metadata lists
	// and Tables have no shardInfo.
	ShardsServed
	// ShardsClaimed sends every object, although the shardInfo of lists says that the selector was applied.
	ShardsClaimed
)

// Containers simulate the containers of the server's pods, which do not run. Package client/clienttest/containers
// implements it.
type Containers interface {
	// ServeContainer answers a request for the subresource exec, attach, log or portforward of a pod, which the pod's
	// node would answer. [RequestOf] returns the pod and the subresource. The server has already checked that the user
	// may make the request, that the pod exists, and that it has the container. container is empty for portforward.
	ServeContainer(w http.ResponseWriter, r *http.Request, container string)
}
