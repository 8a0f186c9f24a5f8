package kubectl

// Column is the definition of a column.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
}

// Columns returns the columns of a resource. Each row has the name, and the type, the format and the priority if they are not
// the usual ones.
func Columns(rows [][]any) []Column {
	var out []Column
	for _, row := range rows {
		c := Column{Type: "string"}
		for i, v := range row {
			switch s, _ := v.(string); i {
			case 0:
				c.Name = s
			case 1:
				c.Type = s
			case 2:
				c.Format = s
			case 3:
				n, _ := v.(float64)
				c.Priority = int(n)
			}
		}
		out = append(out, c)
	}
	return out
}

// PlainColumns are the columns of a custom resource.
func PlainColumns() []Column {
	return []Column{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "date"}}
}

// PlainCells are the cells of the PlainColumns.
func PlainCells(o *Object) []any { return []any{o.name(), o.age()} }
