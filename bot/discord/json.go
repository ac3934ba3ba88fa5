package discord

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal reads the gateway's JSON, with invalid UTF-8 and duplicate names: members may write anything. For
// the same reason errors leave values out.
func Unmarshal(data []byte, into any) error {
	err := jsonv2.Unmarshal(data, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*jsonv2.SemanticError](err); ok && wrong.JSONPointer != "" {
		return fmt.Errorf("the field %s isn't of the kind expected", wrong.JSONPointer[1:])
	}
	return errors.New("not the JSON expected")
}

// EventID returns an event's id; 0 if there is none.
func EventID(data json.RawMessage) int64 {
	var v struct {
		ID Snowflake `json:"id"`
	}
	_ = json.Unmarshal(data, &v)
	return int64(v.ID)
}
