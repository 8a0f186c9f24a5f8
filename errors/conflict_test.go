package errors_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// conflicts is the answer to an apply, with one cause for each pair of a field and a message.
func conflicts(pairs ...string) error {
	s := meta.Status{Reason: "Conflict", Code: 409, Details: &meta.StatusDetails{}}
	for i := 0; i < len(pairs); i += 2 {
		s.Details.Causes = append(s.Details.Causes, meta.StatusCause{
			Reason: "FieldManagerConflict", Field: pairs[i], Message: pairs[i+1],
		})
	}
	return apierrors.FromStatus(s)
}

// behaviour 325
func TestFieldConflictsNameTheFieldAndItsManager(t *testing.T) {
	const image = `.spec.template.spec.containers[name="web"].image`
	for _, test := range []struct {
		message string
		want    apierrors.FieldConflict
	}{
		{`conflict with "b"`, apierrors.FieldConflict{Manager: "b", Operation: "Apply"}},
		{`conflict with "b" with subresource "status"`, apierrors.FieldConflict{Manager: "b", Operation: "Apply", Subresource: "status"}},
		{`conflict with "b" using apps/v1`, apierrors.FieldConflict{Manager: "b", Operation: "Update", APIVersion: "apps/v1"}},
		{
			`conflict with "a \"b\" using v1" with subresource "scale" using apps/v1 at 2026-11-21T21:16:48Z`,
			apierrors.FieldConflict{
				Manager: `a "b" using v1`, Operation: "Update", Subresource: "scale", APIVersion: "apps/v1",
				Time: time.Date(2026, 11, 21, 21, 16, 48, 0, time.UTC),
			},
		},
		{`conflict with "b" using v1 at noon`, apierrors.FieldConflict{Manager: "b", Operation: "Update", APIVersion: "v1"}},
		{`conflict with b`, apierrors.FieldConflict{}},
		{`owned by "b"`, apierrors.FieldConflict{}},
		{``, apierrors.FieldConflict{}},
	} {
		test.want.Field, test.want.Message = image, test.message
		got := apierrors.FieldConflicts(fmt.Errorf("apply: %w", conflicts(image, test.message)))
		if !slices.Equal(got, []apierrors.FieldConflict{test.want}) {
			t.Errorf("%s is %+v, want %+v", test.message, got, test.want)
		}
	}
}

// behaviour 335
func TestFieldConflictsAreFoundInEveryAnswer(t *testing.T) {
	both := errors.Join(conflicts(".a", `conflict with "x"`, ".b", `conflict with "x"`), fmt.Errorf("%w", conflicts(".a", `conflict with "y"`)))
	var got []string
	for _, c := range apierrors.FieldConflicts(both) {
		got = append(got, c.Field+" "+c.Manager)
	}
	if want := []string{".a x", ".a y", ".b x"}; !slices.Equal(got, want) {
		t.Errorf("the conflicts are %q, want %q", got, want)
	}
	version := apierrors.FromStatus(meta.Status{Reason: "Conflict", Code: 409})
	for _, err := range []error{nil, errors.New("x"), version, conflicts(), (*apierrors.StatusError)(nil)} {
		if got := apierrors.FieldConflicts(err); got != nil {
			t.Errorf("%v has %v", err, got)
		}
	}
}

func TestAFieldConflictIsOneCleanLine(t *testing.T) {
	c := apierrors.FieldConflict{Field: ".data.k", Message: "conflict with \"a\x1b[31m\n\""}
	if got := c.String(); got != `.data.k: conflict with "a "` {
		t.Errorf("the text is %q", got)
	}
}

func ExampleFieldConflicts() {
	err := fmt.Errorf(`apply deployments "web/a": %w`, conflicts(".spec.replicas", `conflict with "autoscaler" using apps/v1`))

	for _, c := range apierrors.FieldConflicts(err) {
		fmt.Println(c.Field, "is of", c.Manager, "by an", c.Operation)
	}
	// Output: .spec.replicas is of autoscaler by an Update
}
