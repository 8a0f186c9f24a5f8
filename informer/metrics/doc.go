// Package metrics makes Prometheus metrics of a program that uses Bowline. It is a separate module, so that a program
// without it links nothing of Prometheus.
//
//	ctx, err := metrics.Context(ctx, prometheus.DefaultRegisterer)
//
// measures everything that runs with the returned context: requests, informers, controllers and their queues,
// leader elections, groups of replicas, recorders. Nothing else needs to be wired, because the contexts of all of them
// are derived from it.
//
// # Metrics
//
// These have the names, labels and buckets that client-go and controller-runtime gave them, so that dashboards and
// alerts work as they are:
//
//	rest_client_requests_total                    code, method, host; the code is "<error>" if there was no answer
//	rest_client_request_duration_seconds          verb, host: until the headers of the answer; watches are left out
//	rest_client_rate_limiter_duration_seconds     verb, host: the wait for Config.Limiter; watches are left out
//	rest_client_request_retries_total             code, verb, host
//	controller_runtime_reconcile_total            controller, result (success, requeue_after, error, and conflict,
//	                                              interrupted)
//	controller_runtime_reconcile_errors_total     controller; conflicts that are retried quietly are not among them
//	controller_runtime_terminal_reconcile_errors_total, controller_runtime_reconcile_panics_total,
//	controller_runtime_reconcile_timeouts_total   controller
//	controller_runtime_reconcile_time_seconds     controller
//	controller_runtime_max_concurrent_reconciles, controller_runtime_active_workers   controller
//	workqueue_depth                               name, controller, priority; name and controller are both the
//	                                              controller's name
//	workqueue_adds_total, workqueue_retries_total,
//	workqueue_queue_duration_seconds, workqueue_work_duration_seconds,
//	workqueue_unfinished_work_seconds, workqueue_longest_running_processor_seconds    name, controller
//	leader_election_master_status                 name: that of the lease; 1 while this process leads, else 0
//	leader_election_slowpath_total                name: renewals that had to read the lease
//
// The lease of a replica in a shards.Group counts as an election too: the replica is always its leader.
//
// A key that waits aside, as for controller.Fresh, becomes ready and is taken one additional time: workqueue_adds_total
// and workqueue_queue_duration_seconds count that, and workqueue_work_duration_seconds does not. A controller has
// series for 25 priorities at most, and one for all others, "exceeded_cardinality_limit".
//
// The following metrics are Bowline's own. Informers of one resource, with one informer.Options.Name and the same
// selectors, share a series, and so do recorders of one controller: the series has the sum of their counts, and the
// greatest of their ages. The label informer is the name of the informer: that Name, followed by the selectors.
// Without either it is empty, which Prometheus treats as no label.
//
//	bowline_build_info                            version: that of Bowline in the build information; always 1
//	bowline_informer_objects                      resource, informer: objects in the caches
//	bowline_informer_synced                       resource, informer: 1 if each cache holds a complete list, else 0
//	bowline_informer_stale                        resource, informer: caches that have not been renewed for
//	                                              informer.Options.StaleAfter
//	bowline_informer_polling                      resource, informer: caches that are listed again and again, because
//	                                              the server serves no watch
//	bowline_informer_events_total                 resource, informer: applied events
//	bowline_informer_lists_total                  resource, informer, cause, result (success, error)
//	bowline_informer_list_duration_seconds        resource, informer: of complete lists
//	bowline_informer_relists_total                resource, informer, cause: complete lists after the first one
//	bowline_informer_event_age_seconds            resource, informer: since something last came from the server
//	bowline_informer_undecodable_objects          resource, informer: objects that do not decode at present
//	bowline_informer_backlog                      resource, informer: changes that handlers have not handled
//	bowline_informer_backlog_age_seconds          resource, informer: how far the slowest handler is behind
//	bowline_informer_ranges                       resource, informer, selected (server, local): with Options.Shards,
//	                                              ranges of 256 that are complete
//	bowline_controller_paused                     controller: 1 while it is paused, else 0
//	bowline_controller_conflicts_total            controller: reconciles that are retried quietly after a Conflict
//	bowline_controller_oldest_key_seconds         controller: how long the first ready key has waited
//	bowline_controller_delayed_keys               controller: keys that wait for their time, or for a retry
//	bowline_controller_held_keys                  controller: keys that wait aside, as for controller.Fresh
//	bowline_controller_fresh_wait_seconds         controller: how long keys waited for controller.Fresh
//	bowline_controller_stale_reconciles_total     controller: reconciles that went ahead before caches had seen the last
//	                                              write
//	bowline_controller_fights_total               controller: fights with other writers that were noticed; see
//	                                              controller.FightError
//	bowline_controller_fighting                   controller: objects over which it fights now
//	bowline_leader_lost_total                     name: how often this process has lost the lease
//	bowline_leader_renewal_duration_seconds       name: of renewals, all attempts included
//	bowline_shards_ranges                         name: that of the group; ranges that this replica works on, of 256
//	bowline_shards_due_ranges                     name: ranges due to it by the weights of the live replicas, if divided
//	                                              evenly
//	bowline_shards_waiting_ranges                 name: ranges that it is ready for, and that others have not given up
//	bowline_shards_unready_ranges                 name: ranges that some of its informers or controllers are not ready
//	                                              for
//	bowline_shards_unowned_ranges                 name: ranges that no replica works on or waits for, as far as it knows
//	bowline_shards_members                        name: live replicas, this one included
//	bowline_shards_silent_members                 name: other replicas whose leases have run out, or were deleted or
//	                                              edited
//	bowline_shards_weight                         name: the weight of this replica
//	bowline_shards_gained_ranges_total            name: ranges that it has got
//	bowline_shards_lost_ranges_total              name: ranges that it has given up or lost
//	bowline_shards_lost_total                     name: how often it has lost all ranges at once, with its lease
//	bowline_recorder_sent_total                   controller, result (created, updated)
//	bowline_recorder_dropped_total                controller, cause
//	bowline_recorder_waiting                      controller: records that wait to be sent
//	bowline_recorder_wait_seconds                 controller: how long the server did not know of a record
package metrics
