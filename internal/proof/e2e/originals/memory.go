package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// world has the objects on the server, and says what the controller has to make.
type world struct {
	resources []clienttest.Resource
	work      client.Type[*meta.Unstructured] // the custom resource
	object    func(i int) string              // number i of it
	children  client.Type[*meta.Unstructured] // the built-in resource that it owns
	other     func(i int) string              // number i of other people's children
}

const (
	tasks       = 20
	sampleGroup = "samplecontroller.k8s.io"
	cronGroup   = "batch.tutorial.kubebuilder.io"
)

// podTemplate is the pod template of an average program. Its %s stands for the restart policy.
const podTemplate = `{"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": {"restartPolicy": "%s", "containers": [{
	"name": "main", "image": "registry.example.com/team/web:1.2.3", "args": ["--listen=:8080", "--log-level=info"],
	"ports": [{"name": "http", "containerPort": 8080}],
	"env": [{"name": "REGION", "value": "eu-1"}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
	"resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
	"readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 10},
	"volumeMounts": [{"name": "config", "mountPath": "/etc/web"}]}],
	"volumes": [{"name": "config", "configMap": {"name": "web"}}]}}`

func samples(group string) world {
	return world{
		resources: []clienttest.Resource{{Group: group, Version: "v1alpha1", Kind: "Foo", Resource: "foos", Status: true}},
		work:      client.Type[*meta.Unstructured]{Group: group, Version: "v1alpha1", Kind: "Foo", Resource: "foos"},
		object: func(i int) string {
			return fmt.Sprintf(`{"metadata": {"name": "foo%d"}, "spec": {"deploymentName": "foo%d", "replicas": 1}}`, i, i)
		},
		children: client.Type[*meta.Unstructured]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"},
		other: func(i int) string {
			return fmt.Sprintf(`{"metadata": {"name": "other%d", "labels": {"app": "web"}}, "spec": {"replicas": 3,
				"selector": {"matchLabels": {"app": "web"}}, "template": `+podTemplate+`}}`, i, "Always")
		},
	}
}

func cronJobs(group string) world {
	return world{
		resources: []clienttest.Resource{{Group: group, Version: "v1", Kind: "CronJob", Resource: "cronjobs", Status: true}},
		work:      client.Type[*meta.Unstructured]{Group: group, Version: "v1", Kind: "CronJob", Resource: "cronjobs"},
		object: func(i int) string {
			return fmt.Sprintf(`{"metadata": {"name": "cron%d"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": `+podTemplate+`}}}}`, i, "Never")
		},
		children: client.Type[*meta.Unstructured]{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"},
		other: func(i int) string {
			return fmt.Sprintf(`{"metadata": {"name": "other%d", "labels": {"app": "web"}}, "spec": {"template": `+podTemplate+`}}`, i, "Never")
		},
	}
}

// usage is in bytes.
type usage struct{ resident, peak int64 }

// memory runs a program until its work is done, and says what memory it uses then.
func memory(ctx context.Context, binary string, w world, others int) (used usage, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return usage{}, err
	}
	server := clienttest.New(clienttest.Options{Listener: listener, Resources: w.resources})
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Run(serving) }()
	defer func() { stop(); err = errors.Join(err, <-served) }()
	c, err := client.New(server.Config())
	if err != nil {
		return usage{}, err
	}
	for i := range others {
		if err := create(ctx, client.For(c, w.children), w.other(i)); err != nil {
			return usage{}, err
		}
	}
	for i := range tasks {
		if err := create(ctx, client.For(c, w.work), w.object(i)); err != nil {
			return usage{}, err
		}
	}

	file, err := os.CreateTemp("", "kubeconfig")
	if err != nil {
		return usage{}, err
	}
	defer os.Remove(file.Name())
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context":
		{"cluster": "c", "user": "u"}}], "clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {}}]}`,
		server.Config().Server)
	if _, err := file.WriteString(config); err != nil {
		return usage{}, err
	}
	if err := file.Close(); err != nil {
		return usage{}, err
	}
	var said bytes.Buffer
	cmd := exec.Command(binary, "-kubeconfig", file.Name())
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file.Name(), "ENABLE_WEBHOOKS=false")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(fmt.Errorf("the program has ended by itself: %w", cmp.Or(cmd.Wait(), errors.New("exit status 0"))))
	}()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if err != nil {
			err = fmt.Errorf("%w; the program said:\n%s", err, said.Bytes())
		}
	}()
	if err := worked(ctx, client.For(c, w.children)); err != nil {
		return usage{}, err
	}
	select {
	case <-time.After(5 * time.Second):
	case <-ctx.Done():
		return usage{}, context.Cause(ctx)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return usage{}, err
	}
	m := regexp.MustCompile(`(?s)VmHWM:\s+(\d+) kB.*VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return usage{}, fmt.Errorf("no VmHWM and VmRSS in the status of the process: %q", status)
	}
	peak, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		return usage{}, err
	}
	resident, err := strconv.ParseInt(string(m[2]), 10, 64)
	return usage{resident << 10, peak << 10}, err
}

func create(ctx context.Context, r client.Resource[*meta.Unstructured], text string) error {
	obj := new(meta.Unstructured)
	if err := json.Unmarshal([]byte(text), &obj.Object); err != nil {
		return err
	}
	_, err := r.In("default").Create(ctx, obj)
	return err
}

// worked waits until all custom resources own an object.
func worked(ctx context.Context, children client.Resource[*meta.Unstructured]) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	owners := make(map[string]bool)
	for event, err := range children.Watch(ctx, client.WatchOptions{}) {
		if err != nil {
			return fmt.Errorf("wait for the work of the controller, of which %d of %d are done: %w", len(owners), tasks, err)
		}
		if owner, ok := meta.ControllerOf(event.Object); ok {
			if owners[owner.UID] = true; len(owners) == tasks {
				return nil
			}
		}
	}
	return fmt.Errorf("the work of the controller is not done: %d of %d: %w", len(owners), tasks, context.Cause(ctx))
}
