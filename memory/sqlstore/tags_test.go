package sqlstore

import (
	"reflect"
	"testing"

	"hark/memory"
)

func TestTagsAreReadBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	stored := textOfTags([]memory.Tag{{ID: 81, Name: "on\nlinux\x00"}, {Name: "from a file"}, {ID: 82}})
	var read []memory.Tag
	err := asTags{&read}.Scan(stored)
	want := []memory.Tag{{ID: 81, Name: "on linux"}, {Name: "from a file"}, {ID: 82}}
	if err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("%q: %+v, %v", stored, read, err)
	}
}

func TestSealedBytesHoldNoTags(t *testing.T) {
	t.Parallel()
	var read []memory.Tag
	err := asTags{&read}.Scan([]byte{1, 'x', '\n', 0xff, ' '})
	if err != nil || read != nil {
		t.Errorf("%+v, %v", read, err)
	}
}
