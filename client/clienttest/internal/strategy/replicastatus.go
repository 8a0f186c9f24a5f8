package strategy

// naturals reports each of the named members of an object that is below zero.
func naturals(v value, names ...string) {
	for _, name := range names {
		v.at(name).natural()
	}
}

// atMost reports each of the named members of an object that is greater than the member limit.
func atMost(v value, limit string, names ...string) {
	for _, name := range names {
		if v.at(name).number() > v.at(limit).number() {
			v.at(name).invalid("cannot be greater than status.%s", limit)
		}
	}
}

// checkCollisions reports a number of collisions that is lower than before.
func checkCollisions(v value) {
	count := v.at("collisionCount")
	count.natural()
	if v.updates && count.number() < before(count).number() {
		count.invalid("cannot be decremented")
	}
}

func checkDeploymentStatus(v value) {
	v = v.at("status")
	naturals(v, "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
		"unavailableReplicas", "terminatingReplicas")
	atMost(v, "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
	atMost(v, "readyReplicas", "availableReplicas")
	checkCollisions(v)
}

// checkReplicaSetStatus checks the status of a ReplicaSet or of a ReplicationController.
func checkReplicaSetStatus(v value) {
	v = v.at("status")
	naturals(v, "observedGeneration", "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
		"terminatingReplicas")
	atMost(v, "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	atMost(v, "readyReplicas", "availableReplicas")
}

func checkStatefulSetStatus(v value) {
	v = v.at("status")
	naturals(v, "observedGeneration", "replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
		"availableReplicas")
	atMost(v, "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
	atMost(v, "readyReplicas", "availableReplicas")
	checkCollisions(v)
}

func checkDaemonSetStatus(v value) {
	v = v.at("status")
	naturals(v, "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
		"observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable")
	checkCollisions(v)
}
