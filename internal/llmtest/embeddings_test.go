package llmtest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

func TestVectorRanks(t *testing.T) {
	t.Parallel()
	question := Vector("When is the deadline of Project X?", 256)
	best, other := cosine(question, Vector("the deadline for project X is Friday!", 256)), cosine(question, Vector("cats sleep all day long", 256))
	if best < other+0.3 {
		t.Errorf("like %g, unlike %g", best, other)
	}
	if again := Vector("When is the deadline of Project X?", 256); cosine(question, again) < 1-1e-9 {
		t.Error("the same text has another vector")
	}
	if v := Vector("?!", 4); v[0] == 0 {
		t.Error("a vector is zero")
	}
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	type answer struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
	}
	s := New(t, Dimensions(8))
	get := func(body string) (a answer) {
		resp, text, err := post(t, s, "/embeddings", body)
		if err != nil || resp.StatusCode != 200 || json.Unmarshal([]byte(text), &a) != nil {
			t.Errorf("%s: %s, %v", body, text, err)
		}
		return a
	}
	if a := get(`{"model":"m","input":["one","two"]}`); len(a.Data) != 2 || len(a.Data[1].Embedding) != 8 || a.Data[1].Index != 1 {
		t.Errorf("%+v", a)
	}
	if a := get(`{"model":"m","input":"one","dimensions":5}`); len(a.Data) != 1 || len(a.Data[0].Embedding) != 5 {
		t.Errorf("%+v", a)
	}
	s.QueueEmbeddings(Shuffled, TooFew, TooMany, WrongDimension, SameIndex, ZeroVector)
	two := `{"model":"m","input":["one","two"]}`
	if a := get(two); a.Data[0].Index != 1 || a.Data[1].Index != 0 || cosine(a.Data[0].Embedding, Vector("two", 8)) < 0.99 {
		t.Errorf("shuffled: %+v", a)
	}
	if a := get(two); len(a.Data) != 1 {
		t.Errorf("too few: %+v", a)
	}
	if a := get(two); len(a.Data) != 3 || a.Data[2].Index != 2 {
		t.Errorf("too many: %+v", a)
	}
	if a := get(two); len(a.Data[0].Embedding) != 9 {
		t.Errorf("wrong dimension: %+v", a)
	}
	if a := get(two); a.Data[0].Index != 0 || a.Data[1].Index != 0 {
		t.Errorf("same index: %+v", a)
	}
	if a := get(two); cosine(a.Data[0].Embedding, a.Data[0].Embedding) == 1 {
		t.Errorf("zero: %+v", a)
	}
}

func TestEmbeddingFailures(t *testing.T) {
	t.Parallel()
	s := New(t)
	for _, test := range []struct {
		fault  Fault
		status int
		want   string
	}{
		{NullNumber, 200, "[null,"}, {HugeNumber, 200, "[1e999,"}, {NoData, 200, "{}"}, {HTMLPage, 200, "<html>"},
		{Overloaded, 503, "try again"}, {Limited, 429, "try again"},
	} {
		s.QueueEmbeddings(test.fault)
		resp, body, err := post(t, s, "/embeddings", `{"model":"m","input":"one"}`)
		if err != nil || resp.StatusCode != test.status || !strings.Contains(body, test.want) {
			t.Errorf("fault %d: %d %s, %v", test.fault, resp.StatusCode, body, err)
		}
		if (test.status >= 400) != (resp.Header.Get("Retry-After") == "7") {
			t.Errorf("fault %d: %v", test.fault, resp.Header)
		}
	}
	s.QueueEmbeddings(Dropped)
	if _, _, err := post(t, s, "/embeddings", `{"model":"m","input":"one"}`); err == nil {
		t.Error("dropped, and no error")
	}
}
