package kubectl

// Column is the definition of a column.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
}

// Columns returns the columns of a resource. Each row has a column's name, and its type, format and priority where
// these differ from the defaults.
func Columns(rows [][]any) []Column {
	var out []Column
	for _, row := range rows {
		c := Column{Type: "string"}
		texts := []*string{&c.Name, &c.Type, &c.Format}
		for i, v := range row {
			if i < len(texts) {
				*texts[i], _ = v.(string)
			} else if n, isNumber := v.(float64); isNumber {
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
