package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"benchd/api/references"
	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// maxLeaders bounds the rows of all boards of an answer.
const maxLeaders = 1000

// leaderboard ranks the best scores of the service's own runs.
//
//	@Summary		Rank the best scores
//	@ID				getLeaderboard
//	@Description	The best score of each host and placement, on a board for each case. Only trials that succeeded count, and a score with doubts comes after all without. Narrow it down by parameters of the case, param.NAME=VALUE.
//	@Tags			figures
//	@Produce		json
//	@Param			kernel	query		string	false	"only this kernel, or the kernels of this family"
//	@Param			host	query		string	false	"only this host"
//	@Success		200		{object}	bench.Leaderboard
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503		{object}	bench.Problem	"the store is away"
//	@Router			/v1/leaderboard [get]
func (s *Server) leaderboard(c echo.Context) error {
	q, err := parseQuery(c, "kernel", "host", "param.")
	if err != nil {
		return err
	}
	f := store.SeriesFilter{Kernel: q.one("kernel"), Host: q.one("host"), Params: q.named("param."), Limit: maxLeaders}
	if q.err != nil {
		return q.err
	}
	best, more, err := s.config.Past.Leaders(c.Request().Context(), f)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, bench.Leaderboard{Boards: boards(best), Cut: more})
}

// boards sorts the best of each series onto boards by case and unit, and ranks each.
func boards(best []bench.HistorySeries) []bench.Board {
	list := []bench.Board{}
	at := make(map[string]int)
	for _, b := range best {
		key := fmt.Sprintf("%s\x00%d\x00%d\x00", b.Case().Key(), b.Operations, b.Ramp) + b.Metric + "\x00" + b.Unit + "\x00" + b.Better
		i, known := at[key]
		if !known {
			i = len(list)
			at[key] = i
			list = append(list, bench.Board{Kernel: b.Kernel, Params: b.Params, Operations: b.Operations, Ramp: b.Ramp, Metric: b.Metric, Unit: b.Unit, Better: b.Better})
		}
		list[i].Rows = append(list[i].Rows, bench.Leader{Host: b.Host, Pin: b.Pin, Awake: b.Awake, Point: b.Points[0]})
	}
	slices.SortStableFunc(list, func(a, b bench.Board) int {
		return cmp.Or(cmp.Compare(a.Case().Key(), b.Case().Key()), cmp.Compare(a.Operations, b.Operations), cmp.Compare(a.Ramp, b.Ramp))
	})
	for i := range list {
		rank(&list[i])
	}
	return list
}

// rank sorts a board and numbers its rows.
func rank(b *bench.Board) {
	slices.SortStableFunc(b.Rows, func(x, y bench.Leader) int {
		switch {
		case x.Valid != y.Valid && x.Valid:
			return -1
		case x.Valid != y.Valid:
			return 1
		case b.Better == "lower":
			return cmp.Compare(x.Value, y.Value)
		}
		return cmp.Compare(y.Value, x.Value)
	})
	for i := range b.Rows {
		row := &b.Rows[i]
		row.Rank = i + 1
		if i > 0 && row.Value == b.Rows[i-1].Value && row.Valid == b.Rows[i-1].Valid {
			row.Rank = b.Rows[i-1].Rank
		}
		if first := b.Rows[0].Value; first > 0 {
			part := row.Value / first
			row.OfBest = &part
		}
	}
}

// listReferences shows published figures.
//
//	@Summary		List published figures
//	@ID				listReferences
//	@Description	The figures of the articles that the project grew from, with what each was measured on and the line of the article. Narrow them down by parameters, param.NAME=VALUE.
//	@Tags			figures
//	@Produce		json
//	@Param			kernel	query		string	false	"only figures of this kernel or composite, or of the kernels of this family"
//	@Param			table	query		string	false	"only figures of this table"
//	@Param			source	query		string	false	"only figures of this article"
//	@Param			text	query		string	false	"only figures whose system, runtime or processor hold all of these words"
//	@Success		200		{object}	bench.ReferenceList
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Router			/v1/references [get]
func (s *Server) listReferences(c echo.Context) error {
	q, err := parseQuery(c, "kernel", "table", "source", "text", "param.")
	if err != nil {
		return err
	}
	ask := references.Query{Kernel: q.one("kernel"), Table: q.one("table"), Source: q.one("source"), Text: q.one("text"), Params: kernels.Params(q.named("param."))}
	tables := s.config.References.Tables()
	q.among("table", ask.Table, tables, func(t bench.ReferenceTable) string { return t.Name })
	q.among("source", ask.Source, tables, func(t bench.ReferenceTable) string { return t.Source })
	if q.err != nil {
		return q.err
	}
	return writeJSON(c, http.StatusOK, s.config.References.List(ask))
}

// among refuses a value that no table has: a wrong name would look like an empty table.
func (q *query) among(name, value string, tables []bench.ReferenceTable, of func(bench.ReferenceTable) string) {
	var allowed []string
	for _, t := range tables {
		allowed = append(allowed, of(t))
	}
	allowed = slices.Compact(allowed)
	if value != "" && !slices.Contains(allowed, value) {
		q.fail(name, "unknown_value", allowed, "there is no %s %q; there are %s", name, clip(value), strings.Join(allowed, ", "))
	}
}
