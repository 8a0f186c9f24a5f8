package recording_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
)

// secretText is a Secret with the value "hunter2hunter2" and copies of it in many places.
func secretText() string {
	const value = "hunter2hunter2"
	in64 := base64.StdEncoding.EncodeToString([]byte(value))
	return strings.NewReplacer("VALUE", value, "IN64", in64, "LONG", strings.Repeat("x", 300)+value).Replace(
		`{"kind":"Secret","apiVersion":"v1","type":"Opaque","immutable":true,"metadata":{"name":"s","namespace":"a","uid":"u",` +
			`"resourceVersion":"7","labels":{"app":"web","copy":"VALUE"},"annotations":{"note":"kept",` +
			`"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"IN64\"}}",` +
			`"a":"x VALUE y","b":"IN64","c":"LONG","d":" [\"VALUE\"]"},` +
			`"managedFields":[{"manager":"m","fieldsV1":{"f:data":{"f:p":{}}}}]},` +
			`"data":{"p":"IN64","q":"IN64","r":"b3RoZXI=","bad":"VALUE%","empty":""},"stringData":{"p":"VALUE"},` +
			`"future":{"deep":["VALUE"]},"spec":"VALUE"}`)
}

func redacted(t *testing.T, r *recording.Redactor, text string) (jsontree.Object, string) {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tree := v.(jsontree.Object)
	r.Secret(tree)
	return tree, string(jsontree.Append(nil, tree))
}

func TestNoMemberOfASecretHasItsValue(t *testing.T) {
	for _, omit := range []bool{false, true} {
		_, text := redacted(t, recording.NewRedactor(omit), secretText())
		for _, part := range []string{"hunter2", base64.StdEncoding.EncodeToString([]byte("hunter2hunter2"))[:12], "b3RoZXI", "other"} {
			if strings.Contains(text, part) {
				t.Errorf("omit %v: %q is in %s", omit, part, text)
			}
		}
		for _, kept := range []string{`"app":"web"`, `"note":"kept"`, `"type":"Opaque"`, `"immutable":true`, `"resourceVersion":"7"`, `"uid":"u"`} {
			if !strings.Contains(text, kept) {
				t.Errorf("omit %v: %s is not in %s", omit, kept, text)
			}
		}
		if strings.Contains(text, `f:p`) == omit {
			t.Errorf("omit %v: the keys of data: %s", omit, text)
		}
	}
}

func TestEqualValuesHaveEqualHashesUnderOneKeyOnly(t *testing.T) {
	r := recording.NewRedactor(false)
	tree, text := redacted(t, r, secretText())
	data := tree["data"].(jsontree.Object)
	if data["p"] != data["q"] || data["p"] == data["r"] || data["p"] == data["empty"] {
		t.Errorf("the hashes are %v", data)
	}
	hash, err := base64.StdEncoding.DecodeString(data["p"].(string))
	if err != nil || string(hash) != tree["stringData"].(jsontree.Object)["p"] {
		t.Errorf("data has %q, and stringData %v, %v", hash, tree["stringData"], err)
	}
	if _, again := redacted(t, r, secretText()); again != text {
		t.Error("the same redactor has other hashes")
	}
	if _, other := redacted(t, recording.NewRedactor(false), secretText()); other == text {
		t.Error("another redactor has the same hashes, so they can be guessed")
	}
}

func TestASecretWithMembersOfWrongTypesLosesThem(t *testing.T) {
	for _, text := range []string{
		`{"kind":"Secret","metadata":{"name":"s","annotations":["VALUE"],"labels":7},"data":"VALUE","stringData":["VALUE"]}`,
		`{"kind":"Secret","metadata":{"name":"s"},"data":{"a":{"b":"VALUE"},"c":["VALUE"],"d":12345678}}`,
		`{"kind":"Secret","metadata":"VALUE","data":null}`,
		`{"kind":"Secret","metadata":{"name":"s","annotations":{"a":{"b":"VALUE"},"c":7}}}`,
	} {
		if _, out := redacted(t, recording.NewRedactor(false), text); strings.Contains(out, "VALUE") || strings.Contains(out, "12345678") {
			t.Errorf("%s is left of %s", out, text)
		}
	}
}
