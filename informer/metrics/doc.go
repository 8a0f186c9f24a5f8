// Package metrics makes Prometheus metrics of a program that uses Bowline. It is a module of its own, so that a program
// without it links nothing of Prometheus.
//
//	ctx, err := metrics.Context(ctx, prometheus.DefaultRegisterer)
//
// measures everything that runs with the context that it returns: requests, informers, controllers and their queues, leader
// elections, recorders. Nothing else needs to be wired, because the contexts of all of them are derived from it.
//
// # Metrics
//
// These have the names, labels and buckets that client-go and controller-runtime gave them, so that dashboards and alerts work
// as they are:
//
//	rest_client_requests_total                    code, method, host; the code is "<error>" if there was no answer
//	rest_client_request_duration_seconds          verb, host: until the headers of the answer; watches are left out
//	rest_client_rate_limiter_duration_seconds     verb, host: the wait for Config.Limiter and Config.Concurrency
//	rest_client_request_retries_total             code, verb, host
//	controller_runtime_reconcile_total            controller, result (success, requeue_after, error, and conflict, interrupted)
//	controller_runtime_reconcile_errors_total     controller; conflicts that are retried quietly are not among them
//	controller_runtime_terminal_reconcile_errors_total, controller_runtime_reconcile_panics_total,
//	controller_runtime_reconcile_timeouts_total   controller
//	controller_runtime_reconcile_time_seconds     controller
//	controller_runtime_max_concurrent_reconciles, controller_runtime_active_workers   controller
//	workqueue_depth, workqueue_unfinished_work_seconds, workqueue_longest_running_processor_seconds,
//	workqueue_retries_total, workqueue_work_duration_seconds    name, controller: both are the controller's name
//
// These are Bowline's. Informers of the same resource share a series: counts are added, and ages are the greatest.
//
//	bowline_informer_objects                      resource: objects in the caches
//	bowline_informer_synced                       resource: 1 if each cache holds a complete list, else 0
//	bowline_informer_events_total                 resource: applied events
//	bowline_informer_lists_total                  resource, cause, result (success, error)
//	bowline_informer_list_duration_seconds        resource: of complete lists
//	bowline_informer_relists_total                resource, cause: complete lists after the first one
//	bowline_informer_event_age_seconds            resource: since something last came from the server
//	bowline_informer_undecodable_objects          resource: objects that do not decode at present
//	bowline_informer_backlog                      resource: changes that handlers have not handled
//	bowline_informer_backlog_age_seconds          resource: how far the slowest handler is behind
//	bowline_controller_conflicts_total            controller: reconciles that are retried quietly after a Conflict
//	bowline_controller_oldest_key_seconds         controller: how long the first ready key has waited
//	bowline_controller_delayed_keys               controller: keys that wait for their time, or for a retry
package metrics
