package strategy

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// defaultLimit sets the default limits and requests of a limit for containers.
func defaultLimit(m jsontree.Object) {
	if m["type"] != "Container" {
		return
	}
	limits, requests := section(m, "default"), section(m, "defaultRequest")
	for _, copied := range []struct{ to, from jsontree.Object }{
		{limits, inner(m, "max")}, {requests, limits}, {requests, inner(m, "min")},
	} {
		for name, q := range copied.from {
			setDefault(copied.to, name, q)
		}
	}
	for _, name := range []string{"default", "defaultRequest"} {
		if len(inner(m, name)) == 0 {
			delete(m, name)
		}
	}
}

func checkLimitRange(v value) {
	seen := map[string]bool{}
	for _, limit := range v.at("spec", "limits").items() {
		kind := limit.at("type")
		kind.fits(limitType(kind.text()))
		if seen[kind.text()] {
			kind.duplicate()
		}
		seen[kind.text()] = true
		checkLimit(limit)
	}
}

// limitType is the form of a type of object that a limit is for.
func limitType(s string) []string {
	why, types := qualified(s), []string{"Pod", "Container", "PersistentVolumeClaim"}
	if len(why) == 0 && !strings.Contains(s, "/") && !slices.Contains(types, s) {
		why = []string{"must be a standard limit type or fully qualified"}
	}
	return why
}

// checkLimit checks the limits of one type of object.
func checkLimit(v value) {
	kind := v.at("type").text()
	members := []string{"max", "min", "maxLimitRequestRatio"}
	for _, name := range []string{"default", "defaultRequest"} {
		if kind != "Pod" {
			members = append(members, name)
		} else if v.at(name).len() > 0 {
			v.at(name).forbidden("may not be specified when `type` is 'Pod'")
		}
	}
	if kind == "PersistentVolumeClaim" && !v.at("min", "storage").exists() && !v.at("max", "storage").exists() {
		v.at("limits").required("either minimum or maximum storage value is required, but neither was provided")
	}
	names := map[string]bool{}
	for _, member := range members {
		m := v.at(member)
		for _, name := range m.keys() {
			names[name] = true
			if kind == "Pod" || kind == "Container" {
				m.key(name).fits(containerResource(name))
			} else {
				m.key(name).fits(resourceName(name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		checkLimitOf(v, name, kind != "Pod")
	}
}

// checkLimitOf checks the limits of one resource.
func checkLimitOf(v value, name string, defaults bool) {
	of := func(member string) value {
		q := v.at(member).key(name)
		if !defaults && (member == "default" || member == "defaultRequest") {
			q.is = nil
		}
		return q
	}
	least, most, ratio := of("min"), of("max"), of("maxLimitRequestRatio")
	limit, request := of("default"), of("defaultRequest")
	over := func(at, low, high value, what string) {
		if low.exists() && high.exists() && low.amount().Cmp(high.amount()) > 0 {
			at.invalid("%s", what)
		}
	}
	over(least, least, most, "min value is greater than max value")
	over(request, least, request, "min value is greater than default request value")
	over(request, request, most, "default request value is greater than max value")
	over(request, request, limit, "default request value is greater than default limit value")
	over(limit, least, limit, "min value is greater than default value")
	over(limit, limit, most, "default value is greater than max value")
	if ratio.exists() {
		if ratio.amount().Cmp(big.NewRat(1, 1)) < 0 {
			ratio.invalid("ratio is less than 1")
		}
		if least.exists() && most.exists() && least.amount().Sign() != 0 &&
			ratio.amount().Cmp(new(big.Rat).Quo(most.amount(), least.amount())) > 0 {
			ratio.invalid("ratio is greater than max/min")
		}
	}
	if !overcommits(name) && limit.exists() && request.exists() && limit.amount().Cmp(request.amount()) != 0 {
		request.invalid("default value must equal to defaultRequest value")
	}
}
