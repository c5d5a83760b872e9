package model

// Kind says how the bytes of a field are to be read.
type Kind uint8

// The kinds of fields.
const (
	KindInvalid Kind = iota
	Unsigned         // an integer of 1 to 8 bytes
	Signed           // the same in two's complement
	Float            // IEEE 754, 4 or 8 bytes
	Bits             // an integer of 1 to 64 bits
	Varint           // an integer whose length depends on its value; see [VarintForm]
	Digits           // an integer written as text
	Bytes            // any bytes
	Text             // any text
	Literal          // bytes that are always the same
	Struct           // fields of its own
)

var kindNames = [...]string{"invalid", "unsigned integer", "signed integer", "float", "bits", "varint", "number in text", "bytes", "text", "contents", "structure"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind?"
}

// Number reports whether the values of a kind are integers.
func (k Kind) Number() bool { return k >= Unsigned && k <= Digits && k != Float }

// VarintForm is the encoding of an integer of variable length.
type VarintForm uint8

// The encodings.
const (
	VarintInvalid VarintForm = iota
	LEB128                   // 7 bits a byte, lowest first: protobuf, WebAssembly
	SLEB128                  // the same for signed integers
	ZigZag                   // LEB128 of a signed integer whose sign is the lowest bit: protobuf's sint64
	MQTTInt                  // LEB128 of at most 4 bytes
	VLQ                      // 7 bits a byte, highest first: MIDI, ASN.1 tags
	QUICInt                  // 1, 2, 4 or 8 bytes, chosen by the two highest bits: RFC 9000, section 16
	ASN1Len                  // the length octets of BER and DER: X.690, section 8.1.3
)

// RepeatKind says how many items a repeated field has.
type RepeatKind uint8

// The ways of repeating.
const (
	Once         RepeatKind = iota
	RepeatEOS               // until the end of the bytes
	RepeatCount             // as often as an expression says
	RepeatUntil             // until an expression holds for the last item
	RepeatBefore            // until certain bytes follow, which are not part of it
)

// A Field is one entry of a sequence.
type Field struct {
	ID     string // "" is a terminator or the contents between other fields
	Doc    string
	Kind   Kind
	Width  int // of an integer, a float or bits: in bits
	Little bool
	Varint VarintForm
	Base   int // of digits: 8, 10 or 16
	Pad    int // digits are filled up with zeros to so many

	Contents []byte // of a literal
	Size     *Expr  // in bytes; nil: as long as its form says
	ToEnd    bool   // takes all bytes that are left
	stop     []byte // what follows the field and ends it: its terminator
	optional bool   // of a terminator: the end of the bytes will do
	included bool   // the terminator is a part of the value

	Type   *Type
	Switch *Switch
	Enum   *Enum

	Repeat RepeatKind
	Times  *Expr  // of RepeatCount and RepeatUntil
	Before []byte // of RepeatBefore

	If      *Expr
	Valid   *Valid
	Mutable bool
	Derive  *Derive // nil: the value is free

	sizing    *linear // Size, if it can be inverted
	counting  *linear // Times, if it can be inverted
	initial   *constant
	typeName  string
	measures  bool // some field of the model has a size or a number of items that a field of this id says
	line, col int
}

// Optional reports whether a message may be without the field.
func (f *Field) Optional() bool { return f.If != nil }

// Fixed reports whether the field always has the same number of bits.
func (f *Field) Fixed() bool {
	switch f.Kind {
	case Unsigned, Signed, Float, Bits, Literal:
		return true
	}
	return false
}

// Switch chooses the type of a field by a value.
type Switch struct {
	On    *Expr
	Cases []Case
	Else  *Type // nil: bytes
}

// Case is one choice of a switch.
type Case struct {
	On   *Expr
	Type *Type // nil: bytes
}

// A Type is a sequence of fields.
type Type struct {
	Name   string
	Doc    string
	Fields []*Field

	instances []instance
	parent    *Type // where its name is known
	types     []*Type
	enums     []*Enum
	line      int
}

// instance is a value that is computed from fields. It has no bytes; expressions use it by its name.
type instance struct {
	name string
	expr *Expr
	line int
	col  int
}

// instance returns the expression of that name, nil if there is none.
func (t *Type) instance(name string) *Expr {
	for i := range t.instances {
		if t.instances[i].name == name {
			return t.instances[i].expr
		}
	}
	return nil
}

// Field returns the field of that id, nil if there is none.
func (t *Type) Field(id string) *Field {
	for _, f := range t.Fields {
		if f.ID == id && id != "" {
			return f
		}
	}
	return nil
}

// An Enum gives names to values.
type Enum struct {
	Name   string
	Values []EnumValue // in the order of the file
}

// EnumValue is one named value.
type EnumValue struct {
	Name  string
	Value int64
}

// Value returns the value of a name.
func (e *Enum) Value(name string) (int64, bool) {
	for _, v := range e.Values {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

// ValueName returns the name of a value, "" if it has none.
func (e *Enum) ValueName(value int64) string {
	for _, v := range e.Values {
		if v.Value == value {
			return v.Name
		}
	}
	return ""
}

// Valid says which values a field may have.
type Valid struct {
	AnyOf    []constant
	Min, Max *int64
}

// constant is a value that the model's file gives: a number or bytes.
type constant struct {
	number int64
	bytes  []byte
	text   bool // bytes are the value
}
