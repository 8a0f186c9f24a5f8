package explore

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// tells checks that the story of a run has some words.
func (o *outcome) tells(t *testing.T, words ...string) {
	t.Helper()
	for _, want := range words {
		if text := o.tale(); !strings.Contains(text, want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

func TestAServerMayFailAfterItHasDoneTheRequest(t *testing.T) {
	o := lived(t, makes(apierrors.AlreadyExists), livesOfBoxes, "failure-after@create:configmaps:1")
	o.tells(t, "POST configmaps default/a -> 201, but the answer is 500", "POST configmaps default/a -> 409 AlreadyExists")
}

func TestARefusalNamesTheQuotaOrTheWebhook(t *testing.T) {
	lived(t, right, livesOfBoxes, "refused@create:configmaps:1").tells(t,
		`POST configmaps default/a, which is answered with 403 and not served: configmaps "a" is forbidden: exceeded quota: `)
	lived(t, right, livesOfBoxes, "refused@update:configmaps:1").tells(t,
		`PUT configmaps default/a, which is answered with 403 and not served: admission webhook "policy.example.com" denied the request: `)
}

// A controller that takes an invalid object for final tries again when somebody changes it.
func TestAPersonTouchesTheObjectsWhenAPolicyIsMended(t *testing.T) {
	lived(t, final(apierrors.Invalid), livesOfBoxes, "invalid@create:configmaps:1").tells(t,
		"answered with 422", "user: the policy is mended, and all objects of people are annotated")
}

func TestWatchesAndFurtherPagesExpire(t *testing.T) {
	for name, test := range map[string]struct {
		verb, query string
		populated   bool
		want        bool
	}{
		"a watch from a version":             {"watch", "resourceVersion=8", true, true},
		"a watch that begins with a list":    {"watch", "sendInitialEvents=true", true, false},
		"a further page":                     {"list", "continue=x", true, true},
		"the first page":                     {"list", "limit=500", true, false},
		"a watch of a resource with nothing": {"watch", "resourceVersion=8", false, false},
	} {
		query, _ := url.ParseQuery(test.query)
		p := &point{request: clienttest.Request{Verb: test.verb}, query: query, populated: test.populated}
		if p.mayExpire() != test.want {
			t.Errorf("%s: mayExpire is %v, want %v", name, !test.want, test.want)
		}
	}
}

func editOf(k kind) edit {
	return edits()[slices.IndexFunc(edits(), func(e edit) bool { return e.kind == k })]
}

func claimOf(k kind) claim {
	return claims()[slices.IndexFunc(claims(), func(c claim) bool { return c.kind == k })]
}

func TestAnObjectThatTheProgramHasNotHandledIsNotDeleted(t *testing.T) {
	l, object := &ledger{}, &record{present: true, made: byUser}
	if l.allows(editOf(deleted), object, theObject) {
		t.Error("a person may delete an object that the program has not handled")
	}
	if object.handled = true; !l.allows(editOf(deleted), object, theObject) {
		t.Error("no person may delete an object that the program has handled")
	}
}

func TestAnOwnerThatIsBeingDeletedIsNotTakenAway(t *testing.T) {
	owner, child := &record{present: true}, &record{present: true, made: byProgram}
	owner.meta.UID = "1"
	child.meta.OwnerReferences = []meta.OwnerReference{{UID: "1"}}
	l := &ledger{records: []*record{owner, child}}
	if !l.allows(editOf(disowned), child, theObject) {
		t.Error("no person may take away an owner that stays")
	}
	owner.meta.DeletionTimestamp = &meta.Time{Time: time.Now()}
	if l.allows(editOf(disowned), child, theObject) {
		t.Error("a person may take away an owner that is being deleted")
	}
	owner.meta.DeletionTimestamp, owner.present = nil, false
	if l.allows(editOf(disowned), child, theObject) {
		t.Error("a person may take away an owner that has gone")
	}
}

func TestAnObjectThatIsBeingDeletedIsNotClaimed(t *testing.T) {
	r := &record{present: true, made: byProgram}
	r.meta.OwnerReferences = []meta.OwnerReference{{UID: "1"}}
	for _, k := range []kind{finalized, coowned} {
		r.meta.DeletionTimestamp = nil
		if !claimOf(k).on(r) {
			t.Errorf("%s is not possible", k)
		}
		r.meta.DeletionTimestamp = &meta.Time{Time: time.Now()}
		if claimOf(k).on(r) {
			t.Errorf("%s is possible for an object that is being deleted", k)
		}
	}
}

func TestAClaimIsMadeRightBeforeARequest(t *testing.T) {
	lived(t, owns, livesOfBoxes, "co-owned-object@update:configmaps:1").tells(t,
		"another program: configmaps default/a is co-owned", "PUT configmaps default/a -> 409 Conflict",
		"another program: its owner of configmaps default/a is deleted")
	lived(t, right, livesOfBoxes, "finalized-object@update:configmaps:1").tells(t,
		"another program: configmaps default/a is finalized", "another program: its finalizer is taken from configmaps default/a")
}

// holdsChildren is a controller of children with a finalizer that nobody removes.
func holdsChildren(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if _, found := p.child.Get(key); found || box == nil {
		return nil
	}
	child := childOf(box)
	child.Finalizers = []string{boxFinalizer}
	_, err := p.maps.Create(ctx, child)
	return apierrors.Ignore(err, apierrors.AlreadyExists)
}

func TestAnObjectWithAFinalizerIsReplaced(t *testing.T) {
	o := lived(t, holdsChildren, oneBox, "replaced-configmaps/default/a@rest:1")
	o.tells(t, "user: configmaps default/a is replaced\n")
	child, _ := o.states[0]["configmaps default/a"].(map[string]any)
	if metadata, _ := child["metadata"].(map[string]any); child == nil || metadata["finalizers"] != nil {
		t.Errorf("the object of the person is %v, want one without a finalizer", child)
	}
}

// The child that has the annotation is deleted with its Box, and the next one cannot have it.
func TestAnAnnotationMayGoWithItsObject(t *testing.T) {
	lived(t, right, func(h *History) {
		a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
		a.Spec.Text = "one"
		Create(h, boxType(), a)
		h.Rest()
		Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
		h.Rest()
		Delete(h, boxType(), a.Key())
		h.Rest()
		Create(h, boxType(), a)
		h.Rest()
	}, "touched@update:configmaps:1").tells(t, "user: annotate configmaps default/a\n")
}

func TestAStrangerHasTheLabelsOfAnObjectAndAnotherOwner(t *testing.T) {
	plan := boxPlan(owns)
	var strangers []*ConfigMap
	plan.AtRest = func(s State) error {
		all, err := Objects(s, mapType())
		for _, m := range all {
			if m.Labels["box"] == "a" && strings.HasPrefix(m.Name, foreignName) {
				strangers = append(strangers, m)
			}
		}
		return err
	}
	s := &search{t: t, plan: plan, limit: time.Minute}
	if !s.reference() || len(strangers) > 0 {
		t.Fatalf("without a disturbance there are %v", strangers)
	}
	if o := s.try(parsed(t, "stranger-configmaps/default/a@rest:1")); len(o.wrong) > 0 || len(strangers) == 0 {
		t.Fatalf("%d strangers, and %q", len(strangers), o.wrong)
	}
	for _, m := range strangers {
		if owner, found := meta.ControllerOf(m); !found || owner.Kind != "ConfigMap" {
			t.Errorf("the owner of the stranger is %v, want a ConfigMap", owner)
		}
	}
	s = begun(t, deletesByLabel)
	o := s.try(parsed(t, "stranger-configmaps/default/b@rest:2"))
	if want := "the program deleted configmaps default/explore-other-*, which another controller had made"; !slices.Contains(o.wrong, want) {
		t.Errorf("got %q, want %q", o.wrong, want)
	}
}

// The program does not delete what it makes. If its first try to make it fails, and the Box goes then, there is
// nothing.
func TestAnObjectOfAFailedReconcileIsNotDeleted(t *testing.T) {
	s := begun(t, makes(apierrors.AlreadyExists))
	for text, told := range map[string]bool{
		"deleted-owner@create:configmaps:1":                               true,
		"forbidden@create:configmaps:1,deleted-owner@create:configmaps:2": false,
	} {
		o := s.try(parsed(t, text))
		if is := strings.Contains(o.tale(), "user: boxes default/a is deleted"); len(o.wrong) > 0 || is != told {
			t.Errorf("under %s a Box is deleted: %v, want %v; got %q\n%s", text, is, told, o.wrong, o.tale())
		}
	}
}
