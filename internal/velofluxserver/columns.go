package velofluxserver

// column is a column of a stream. A struct has Fields, a list has an Element.
type column struct {
	Name     string   `json:"name"`
	DataType string   `json:"data_type"`
	Fields   []column `json:"fields,omitempty"`
	Element  *column  `json:"element,omitempty"`
}

type schema struct {
	Columns []column `json:"columns"`
}

func videoSchema() (made schema) {
	for _, c := range [][2]string{{"payload", "bytes"}, {"width", "int64"}, {"height", "int64"}, {"format", "string"}, {"timestamp", "timestamp"}} {
		made.Columns = append(made.Columns, column{Name: c[0], DataType: c[1]})
	}
	return made
}

func columns(v value) (made []column, wrong string) {
	made = []column{}
	for _, item := range v.items() {
		c, wrong := oneColumn(item)
		if wrong != "" {
			return nil, wrong
		}
		made = append(made, c)
	}
	return made, ""
}

func oneColumn(v value) (c column, wrong string) {
	c = column{Name: v.string("name", ""), DataType: v.string("data_type", "")}
	switch c.DataType {
	case "null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "string", "bytes", "timestamp":
	case "struct":
		c.Fields, wrong = columns(v.get("fields"))
	case "list":
		element, elementWrong := oneColumn(v.get("element"))
		c.Element, wrong = &element, elementWrong
	default:
		wrong = "unsupported data type: " + c.DataType
	}
	return c, wrong
}
