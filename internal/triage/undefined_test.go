package triage

import "testing"

// TestUndefinedAccess: undefined behaviour is a fault of memory if it is an access beyond an object or to a wrong object.
func TestUndefinedAccess(t *testing.T) {
	const unreadable = "0x4141: note: pointer points here\n<memory cannot be printed>\n"
	for _, test := range []struct {
		message, report string
		want            bool
	}{
		{"index 20 out of bounds for type 'char[8]'", "", true},
		{"store to address 0x7ff with insufficient space for an object of type 'int'", "", true},
		{"member call on address 0x602 which does not point to an object of type 'B'", "", true},
		{"addition of unsigned offset to 0x7ff overflowed to 0x12", "", true},
		{"load of misaligned address 0x4141 for type 'int', which requires 4 byte alignment", unreadable, true},
		{"load of misaligned address 0x7ff1 for type 'int', which requires 4 byte alignment", "", false},
		{"load of null pointer of type 'int'", unreadable, false},
		{"applying non-zero offset 4 to null pointer", "", false},
		{"signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'", "", false},
	} {
		if got := UndefinedAccess(test.message, test.report); got != test.want {
			t.Errorf("%q, %q: %v", test.message, test.report, got)
		}
	}
}
