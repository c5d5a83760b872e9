package teasel

import (
	"reflect"
	"testing"
)

// An observation is handed out with everything that is asked, and with nothing that was asked before.
func TestResetAsks(t *testing.T) {
	for i := range reflect.TypeFor[Ask]().NumField() {
		var a Ask
		switch f := reflect.ValueOf(&a).Elem().Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		default:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
		var o Observation
		for _, asked := range []Ask{a, {}, a} {
			if o.reset(asked); !reflect.DeepEqual(o.Ask, asked) {
				t.Errorf("field %d: asked %+v, handed out with %+v", i, asked, o.Ask)
			}
		}
	}
}
