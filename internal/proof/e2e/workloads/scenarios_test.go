package workloads

import (
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
)

// template returns a pod template, whose containers do what their image says; more are further members of the spec.
func template(image, more string) string {
	return fmt.Sprintf(`{"metadata": {"labels": {"app": "web"}}, "spec": {"terminationGracePeriodSeconds": 5, "automountServiceAccountToken": false%s,
		"containers": [{"name": "main", "image": %q, "ports": [{"name": "http", "containerPort": 8080}]}]}}`, more, image)
}

// deployment returns a Deployment; more are further members of the spec.
func deployment(replicas int, image, more string) step {
	return create("deployments", fmt.Sprintf(`{"metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"note": "one"}},
		"spec": {"replicas": %d, "selector": {"matchLabels": {"app": "web"}}, "template": %s%s}}`, replicas, template(image, ""), more))
}

// replicaSet returns a ReplicaSet.
func replicaSet(replicas int, image, more string) step {
	return create("replicasets", fmt.Sprintf(`{"metadata": {"name": "web"}, "spec": {"replicas": %d, "selector": {"matchLabels": {"app": "web"}},
		"template": %s%s}}`, replicas, template(image, ""), more))
}

// job returns a Job, whose pods are not restarted in place.
func job(image, more string) step { return jobWith("Never", image, more) }

func jobWith(restart, image, more string) step {
	return create("jobs", fmt.Sprintf(`{"metadata": {"name": "work"}, "spec": {"template": %s%s}}`, template(image, `, "restartPolicy": "`+restart+`"`), more))
}

// lonely returns a pod that nobody controls.
func lonely(name, image string) step {
	return create("pods", fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"app": "web"}}, "spec": {"automountServiceAccountToken": false,
		"terminationGracePeriodSeconds": 5, "containers": [{"name": "main", "image": %q, "ports": [{"name": "http", "containerPort": 8080}]}]}}`, name, image))
}

func service(more string) step {
	return create("services", fmt.Sprintf(`{"metadata": {"name": "web", "labels": {"team": "a"}}, "spec": {"selector": {"app": "web"},
		"ports": [{"name": "http", "port": 80, "targetPort": "http"}, {"name": "admin", "port": 81, "targetPort": 9090}]%s}}`, more))
}

// image changes the image of a deployment.
func image(name string) step {
	return change("deployments", "web", fmt.Sprintf(`{"spec": {"template": %s}}`, template(name, "")))
}

func scale(resource string, n int) step {
	return change(resource, "web", fmt.Sprintf(`{"spec": {"replicas": %d}}`, n))
}

func scenarios() []scenario { return slices.Concat(sets(), rollouts(), jobs(), services()) }

func sets() []scenario {
	return []scenario{
		{"a replica set grows and shrinks", []step{replicaSet(2, "run", ""), scale("replicasets", 4), scale("replicasets", 1), scale("replicasets", 0)}},
		{"a replica set replaces pods that are deleted", []step{replicaSet(2, "run", ""), removeOne("app=web"), removeOne("app=web")}},
		{"a replica set waits for a pod that lingers", []step{replicaSet(2, "lingering", ""), scale("replicasets", 1)}},
		{"a replica set adopts pods", []step{lonely("one", "run"), lonely("two", "run"), lonely("three", "run"), replicaSet(2, "run", "")}},
		{"a replica set releases a pod", []step{
			replicaSet(2, "run", ""), changeOne("app=web", `{"metadata": {"labels": {"app": "other"}}}`), scale("replicasets", 1),
			changeOne("app=other", `{"metadata": {"labels": {"app": "web"}}}`),
		}},
		{"a replica set with pods that are not ready", []step{replicaSet(2, "unready", ""), setReady("app=web", true), scale("replicasets", 1)}},
		{"a replica set with pods that do not start", []step{replicaSet(2, "stuck", ""), scale("replicasets", 1)}},
		{"a replica set with minReadySeconds", []step{replicaSet(2, "run", `, "minReadySeconds": 2`), removeOne("app=web"), setReady("app=web", false)}},
		{"a replica set with pods that fail", []step{replicaSet(1, "run", ""), evict("app=web"), scale("replicasets", 2)}},
		{"labels that pods lack", []step{
			replicaSet(1, "run", ""), change("replicasets", "web", `{"spec": {"template": {"metadata": {"labels": {"more": "yes"}}}}}`), scale("replicasets", 2),
		}},
		{"a replica set that may not create", []step{
			quota(1), replicaSet(3, "run", ""), scale("replicasets", 1),
		}},
		{"a replica set is deleted in the background", []step{replicaSet(2, "run", ""), remove("replicasets", "web", client.Background)}},
		{"a replica set is deleted in the foreground", []step{replicaSet(2, "lingering", ""), remove("replicasets", "web", client.Foreground)}},
		{"a replica set leaves orphans, which another adopts", []step{
			replicaSet(2, "run", ""), remove("replicasets", "web", client.Orphan), replicaSet(2, "run", ""),
		}},
	}
}

// quota allows that many pods.
func quota(pods int) step {
	return create("resourcequotas", fmt.Sprintf(`{"metadata": {"name": "few"}, "spec": {"hard": {"pods": "%d"}}}`, pods))
}

func rollouts() []scenario {
	slowly := `, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}`
	return []scenario{
		{"a deployment grows and shrinks", []step{deployment(2, "run", ""), scale("deployments", 5), scale("deployments", 1), scale("deployments", 0)}},
		{"a deployment is rolled out", []step{deployment(3, "run", ""), image("run-2"), image("run-3")}},
		{"a deployment is rolled out with a surge of one", []step{deployment(3, "run", slowly), image("slow").in(15 * time.Second)}},
		{"a deployment is rolled out with percentages", []step{
			deployment(5, "run", `, "strategy": {"rollingUpdate": {"maxSurge": "30%", "maxUnavailable": "30%"}}`), image("unready"), scale("deployments", 8), image("run"),
		}},
		{"a deployment is recreated", []step{deployment(3, "lingering", `, "strategy": {"type": "Recreate"}`), image("run"), image("unready"), scale("deployments", 1)}},
		{"a rollout gets stuck, and is rolled back", []step{deployment(3, "run", ""), image("unready"), image("run")}},
		{"a rollout exceeds its deadline", []step{
			deployment(2, "run", `, "progressDeadlineSeconds": 2`), image("stuck").in(8 * time.Second), image("run-2"),
		}},
		{"a first rollout exceeds its deadline", []step{deployment(2, "unready", `, "progressDeadlineSeconds": 2`).in(8 * time.Second), scale("deployments", 3)}},
		{"a paused deployment", []step{
			deployment(2, "run", ""), change("deployments", "web", `{"spec": {"paused": true}}`), image("run-2"), scale("deployments", 3),
			change("deployments", "web", `{"spec": {"paused": false}}`),
		}},
		{"a deployment that is paused from the beginning", []step{
			deployment(2, "run", `, "paused": true`), change("deployments", "web", `{"spec": {"paused": false}}`),
		}},
		{"a deployment is scaled in the middle of a rollout", []step{deployment(4, "run", ""), image("unready"), scale("deployments", 10), scale("deployments", 3)}},
		{"a deployment keeps a short history", []step{deployment(1, "run", `, "revisionHistoryLimit": 1`), image("run-2"), image("run-3"), image("run-4")}},
		{"a deployment goes back to an old template", []step{deployment(1, "run", ""), image("run-2"), image("run"), image("run-2")}},
		{"annotations of a deployment", []step{
			deployment(1, "run", ""), change("deployments", "web", `{"metadata": {"annotations": {"note": "two", "more": "yes"}}}`),
		}},
		{"minReadySeconds of a deployment", []step{deployment(2, "run", `, "minReadySeconds": 2`), image("run-2").in(15 * time.Second)}},
		{"a deployment without room in the quota", []step{quota(1), deployment(2, "run", "")}},
		{"a deployment adopts a replica set", []step{
			create("replicasets", fmt.Sprintf(`{"metadata": {"name": "old", "labels": {"app": "web"}}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
				"template": %s}}`, template("run", ""))), deployment(2, "run", ""),
		}},
		{"a deployment is deleted in the background", []step{deployment(2, "run", ""), remove("deployments", "web", client.Background)}},
		{"a deployment is deleted in the foreground", []step{deployment(2, "lingering", ""), remove("deployments", "web", client.Foreground)}},
		{"a deployment leaves orphans, which another adopts", []step{deployment(2, "run", ""), remove("deployments", "web", client.Orphan), deployment(3, "run", "")}},
	}
}

func jobs() []scenario {
	backoff := 15 * time.Second
	return []scenario{
		{"a job succeeds", []step{job("exit-0", "")}},
		{"a job with completions", []step{job("exit-0", `, "completions": 5, "parallelism": 2`).in(10 * time.Second)}},
		{"a job with parallelism alone", []step{job("run", `, "parallelism": 3`), finish("app=web", 0), finish("app=web", 0), finish("app=web", 0)}},
		{"a job fails", []step{job("exit-3", `, "backoffLimit": 0`)}},
		{"a job tries again", []step{job("run", `, "backoffLimit": 1`), finish("app=web", 1).in(backoff), finish("app=web", 1)}},
		{"a job succeeds the second time", []step{job("run", ""), finish("app=web", 1).in(backoff), finish("app=web", 0)}},
		{"a job restarts containers", []step{jobWith("OnFailure", "run", `, "backoffLimit": 1`), finish("app=web", 1)}},
		{"a job exceeds its deadline", []step{job("lingering", `, "activeDeadlineSeconds": 2`).in(8 * time.Second)}},
		{"a job is suspended and resumed", []step{
			job("run", `, "suspend": true, "parallelism": 2, "completions": 2`), change("jobs", "work", `{"spec": {"suspend": false}}`),
			change("jobs", "work", `{"spec": {"suspend": true}}`), change("jobs", "work", `{"spec": {"suspend": false}}`), finish("app=web", 0), finish("app=web", 0),
		}},
		{"a job changes its parallelism", []step{
			job("run", `, "parallelism": 1, "completions": 4`), change("jobs", "work", `{"spec": {"parallelism": 3}}`), change("jobs", "work", `{"spec": {"parallelism": 2}}`),
		}},
		{"a job with indexes", []step{job("exit-0", `, "completionMode": "Indexed", "completions": 4, "parallelism": 3`).in(10 * time.Second)}},
		{"an index is tried again", []step{
			job("run", `, "completionMode": "Indexed", "completions": 2, "parallelism": 2`), finish("batch.kubernetes.io/job-completion-index=1", 1).in(backoff),
			finish("batch.kubernetes.io/job-completion-index=1", 0), finish("batch.kubernetes.io/job-completion-index=0", 0),
		}},
		{"indexes with their own limits", []step{
			job("run", `, "completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 1`),
			finish("batch.kubernetes.io/job-completion-index=1", 1).in(backoff), finish("batch.kubernetes.io/job-completion-index=1", 1),
			finish("batch.kubernetes.io/job-completion-index=0", 0), finish("batch.kubernetes.io/job-completion-index=2", 0),
		}},
		{"too many indexes fail", []step{
			job("run", `, "completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 0, "maxFailedIndexes": 1`),
			finish("batch.kubernetes.io/job-completion-index=1", 1), finish("batch.kubernetes.io/job-completion-index=0", 1),
		}},
		{"some indexes are enough", []step{
			job("run", `, "completionMode": "Indexed", "completions": 4, "parallelism": 4, "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]}`),
			finish("batch.kubernetes.io/job-completion-index=2", 0), finish("batch.kubernetes.io/job-completion-index=1", 0),
		}},
		{"a policy fails the job", []step{
			job("exit-42", `, "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}`),
		}},
		{"a policy ignores evictions", []step{
			job("run", `, "backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}`),
			evict("app=web").in(backoff), finish("app=web", 0),
		}},
		{"a pod of a job is deleted", []step{job("lingering", ""), removeOne("app=web").in(backoff)}},
		{"a pod of a job is replaced when it has failed", []step{job("lingering", `, "podReplacementPolicy": "Failed"`), removeOne("app=web").in(backoff)}},
		{"a finished job is deleted after some time", []step{job("exit-0", `, "ttlSecondsAfterFinished": 1`).in(8 * time.Second)}},
		{"a job is deleted in the background", []step{job("run", `, "parallelism": 2`), remove("jobs", "work", client.Background)}},
		{"a job is deleted in the foreground", []step{job("lingering", `, "parallelism": 2`), remove("jobs", "work", client.Foreground)}},
		{"a job leaves orphans", []step{job("run", `, "parallelism": 2`), remove("jobs", "work", client.Orphan)}},
		{"a job of another controller", []step{job("exit-0", `, "managedBy": "example.com/other"`)}},
	}
}

func services() []scenario {
	return []scenario{
		{"a service without pods", []step{service(""), lonely("one", "run"), removeOne("app=web")}},
		{"a service with pods in all conditions", []step{
			lonely("one", "run"), lonely("two", "unready"), lonely("three", "stuck"), service(""), setReady("app=web", false), setReady("app=web", true),
		}},
		{"a service with a pod that ends", []step{
			create("pods", `{"metadata": {"name": "one", "labels": {"app": "web"}}, "spec": {"terminationGracePeriodSeconds": 300, "automountServiceAccountToken": false,
				"containers": [{"name": "main", "image": "deaf"}]}}`), service(""), removeOne("app=web"),
		}},
		{"a service that publishes pods that are not ready", []step{service(`, "publishNotReadyAddresses": true`), lonely("one", "unready")}},
		{"a headless service", []step{service(`, "clusterIP": "None"`), lonely("one", "run"), change("services", "web", `{"metadata": {"labels": {"team": "b"}}}`)}},
		{"a headless service of host names", []step{
			create("services", `{"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "clusterIP": "None"}}`),
			create("pods", `{"metadata": {"name": "one", "labels": {"app": "web"}}, "spec": {"automountServiceAccountToken": false, "hostname": "first", "subdomain": "web",
				"containers": [{"name": "main", "image": "run"}]}}`),
		}},
		{"a service whose selector changes", []step{
			lonely("one", "run"), service(""), change("services", "web", `{"spec": {"selector": {"app": "other"}}}`),
			changeOne("app=web", `{"metadata": {"labels": {"app": "other"}}}`), change("services", "web", `{"spec": {"selector": {"app": "web"}}}`),
		}},
		{"a service whose ports change", []step{
			lonely("one", "run"), service(""), change("services", "web", `{"spec": {"ports": [{"name": "admin", "port": 81, "targetPort": 9091}]}}`),
		}},
		{"pods with other ports for one name", []step{
			service(""), lonely("one", "run"), create("pods", `{"metadata": {"name": "two", "labels": {"app": "web"}}, "spec": {"automountServiceAccountToken": false,
				"containers": [{"name": "main", "image": "run", "ports": [{"name": "http", "containerPort": 8081}]}]}}`),
			create("pods", `{"metadata": {"name": "three", "labels": {"app": "web"}}, "spec": {"automountServiceAccountToken": false, "containers": [{"name": "main", "image": "run"}]}}`),
		}},
		{"services without a selector, and with an external name", []step{
			create("services", `{"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}`),
			create("services", `{"metadata": {"name": "far"}, "spec": {"type": "ExternalName", "externalName": "example.com", "selector": {"app": "web"}}}`), lonely("one", "run"),
		}},
		{"a service is deleted", []step{lonely("one", "run"), service(""), remove("services", "web", client.Background)}},
		{"the default service account comes back", []step{remove("serviceaccounts", "default", "")}},
	}
}
