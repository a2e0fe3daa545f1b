// Command grafana asks a database what Grafana's PostgreSQL data source asks, with its driver: panels as simple
// queries, and its browser of tables with parameters. Statements come as JSON, one to a line, and each answer goes out
// as a line of JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

type asked struct {
	Sql  string
	Args []any
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Args[1])
	if err == nil {
		err = pool.Ping(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one asked
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		var told map[string]any
		if one.Args == nil {
			told = simple(ctx, pool, one.Sql)
		} else {
			told = prepared(ctx, pool, one)
		}
		text, _ := json.Marshal(told)
		fmt.Println(string(text))
	}
}

func simple(ctx context.Context, pool *pgxpool.Pool, sql string) map[string]any {
	held, err := pool.Acquire(ctx)
	if err != nil {
		return failed(err)
	}
	defer held.Release()
	results, err := held.Conn().PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return failed(err)
	}
	all := []any{}
	for _, result := range results {
		rows := [][]string{}
		for _, row := range result.Rows {
			cells := []string{}
			for _, cell := range row {
				if cell == nil {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, "'"+string(cell)+"'")
				}
			}
			rows = append(rows, cells)
		}
		all = append(all, map[string]any{"columns": columnsOf(result.FieldDescriptions), "rows": rows, "tag": result.CommandTag.String()})
	}
	return map[string]any{"results": all}
}

func prepared(ctx context.Context, pool *pgxpool.Pool, one asked) map[string]any {
	rows, err := pool.Query(ctx, one.Sql, one.Args...)
	if err != nil {
		return failed(err)
	}
	defer rows.Close()
	read := []string{}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return failed(err)
		}
		read = append(read, fmt.Sprintf("%#v", values))
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	return map[string]any{"columns": columnsOf(rows.FieldDescriptions()), "rows": read, "tag": rows.CommandTag().String()}
}

func columnsOf(fields []pgconn.FieldDescription) []string {
	types := pgtype.NewMap()
	columns := []string{}
	for _, field := range fields {
		name := fmt.Sprint(field.DataTypeOID)
		if known, ok := types.TypeForOID(field.DataTypeOID); ok {
			name = known.Name
		}
		columns = append(columns, fmt.Sprint(field.Name, " ", name, " ", field.DataTypeSize, " ", field.TypeModifier, " ", field.Format))
	}
	return columns
}

func failed(err error) map[string]any {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return map[string]any{"error": said.Code + " " + said.Message}
	}
	return map[string]any{"error": err.Error()}
}
