package velofluxserver

import "net/http"

// construct is a node of the syntax tree. Empty fields are left out of the JSON.
type construct struct {
	ID          string      `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Status      string      `json:"status,omitempty"`
	Purpose     string      `json:"purpose,omitempty"`
	Semantics   string      `json:"semantics,omitempty"`
	Placement   *placement  `json:"placement,omitempty"`
	Constraints []string    `json:"constraints,omitempty"`
	Workarounds []string    `json:"workarounds,omitempty"`
	Syntax      []string    `json:"syntax,omitempty"`
	Examples    []string    `json:"examples,omitempty"`
	Nodes       []string    `json:"emits_plan_nodes,omitempty"`
	Children    []construct `json:"children,omitempty"`
}

type placement struct {
	Clause   string   `json:"clause"`
	Contexts []string `json:"contexts,omitempty"`
}

func (s *Server) syntax(*call) response {
	return jsonResponse(http.StatusOK, struct {
		Dialect    string      `json:"dialect"`
		IR         string      `json:"ir"`
		Constructs []construct `json:"constructs"`
	}{"StreamDialect", "SelectStmt", constructs()})
}

func group(id, title string, children ...construct) construct {
	return construct{ID: id, Type: "group", Title: title, Children: children}
}

func feature(id, title, status string, syntax ...string) construct {
	return construct{ID: id, Type: "feature", Title: title, Status: status, Syntax: syntax}
}

// constructs returns the five roots. Windows nest three deep. The semantics of their root have more than 240 characters,
// and those around the 240th have more than one byte.
func constructs() []construct {
	statement := feature("statement.select", "SELECT statement", "supported", "SELECT <list> FROM <stream>")
	statement.Constraints = []string{"exactly_one_statement", "select_only"}
	statement.Semantics = "One query describes one plan."
	statement.Examples = []string{"SELECT a FROM user"}

	where := feature("select.where", "WHERE filter", "supported", "WHERE <predicate>")
	where.Placement = &placement{Clause: "WHERE", Contexts: []string{"select"}}
	where.Nodes = []string{"Filter"}
	where.Purpose = "Keep only some rows."
	order := feature("select.order_by", "ORDER BY", "supported", "ORDER BY <expr> [ASC|DESC]")
	order.Nodes = []string{"Order"}
	order.Workarounds = []string{"Sort where the rows arrive."}

	return []construct{
		group("statement", "Statements", statement),
		group("select", "SELECT clauses", feature("select.projection", "Projection", "supported", "SELECT <expr> [, <expr> ...]"), where, order),
		group("from", "FROM sources", feature("from.source", "Source", "partial", "FROM <stream> [AS <alias>]")),
		group("expr", "Expressions",
			feature("expr.identifier", "Column", "supported", "<column>"),
			feature("expr.binary.arithmetic", "Arithmetic", "supported", "<a> + <b>"),
			feature("expr.unary.minus", "Unary minus", "unsupported", "-<expr>")),
		group("window", "Windowing", windows()),
	}
}

func windows() construct {
	kind := func(id, title, syntax string) construct {
		c := feature(id, title, "supported", syntax)
		c.Purpose, c.Semantics = "One kind of window.", "A row belongs to the windows that are open when it comes."
		c.Constraints = []string{"window_only_in_group_by"}
		c.Examples = []string{"SELECT count(*) FROM user GROUP BY " + syntax}
		return c
	}
	state := kind("window.state", "State window", "statewindow(a > 0, b = 1)")
	state.Children = []construct{kind("window.state.over_partition_by", "Partitioned state window", "statewindow(a > 0, b = 1) OVER (PARTITION BY c)")}
	window := feature("window", "Window declaration", "supported", "tumblingwindow('ss', <length>)", "countwindow(<count>)")
	window.Semantics = "  A window is a part of the stream that has an end, so that something can be told about all of its rows together. It is declared " +
		"in GROUP BY, and there at most once. Rows are told apart by their time, by their number or by their state: " +
		"窗口函数把数据流切成片段，每个片段单独计算。 The rest of this text is here to be cut.  "
	window.Placement = &placement{Clause: "GROUP BY", Contexts: []string{"group_by_item"}}
	window.Constraints = []string{"window_only_in_group_by", "at_most_one_window"}
	window.Nodes = []string{"Window"}
	window.Children = []construct{kind("window.tumbling", "Tumbling window", "tumblingwindow('ss', 10)"), state}
	return window
}
