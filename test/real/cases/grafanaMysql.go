// Command grafana asks a database what Grafana's MySQL data source asks, with its driver and its options: statements
// come as JSON, one to a line, and each answer goes out as a line of JSON.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	_ "github.com/go-sql-driver/mysql"
)

type asked struct {
	Sql  string
	Args []any
}

func main() {
	db, err := sql.Open("mysql", os.Args[1]+"?collation=utf8mb4_unicode_ci&parseTime=true&loc=UTC&allowNativePasswords=true"+os.Args[2])
	if err == nil {
		err = db.Ping()
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
		text, _ := json.Marshal(answer(db, one))
		fmt.Println(string(text))
	}
}

func answer(db *sql.DB, one asked) map[string]any {
	rows, err := db.QueryContext(context.Background(), one.Sql, one.Args...)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	columns := []string{}
	for _, column := range types {
		nullable, _ := column.Nullable()
		length, _ := column.Length()
		precision, scale, _ := column.DecimalSize()
		columns = append(columns, fmt.Sprint(column.Name(), " ", column.DatabaseTypeName(), " ", column.ScanType(), " ", nullable, " ", length, " ", precision, " ", scale))
	}
	read := []string{}
	for rows.Next() {
		cells := make([]any, len(types))
		for at, column := range types {
			cells[at] = reflect.New(column.ScanType()).Interface()
		}
		if err := rows.Scan(cells...); err != nil {
			return map[string]any{"columns": columns, "rows": read, "error": err.Error()}
		}
		text := ""
		for _, cell := range cells {
			text += fmt.Sprintf("%v|", reflect.ValueOf(cell).Elem().Interface())
		}
		read = append(read, text)
	}
	said := ""
	if err := rows.Err(); err != nil {
		said = err.Error()
	}
	return map[string]any{"columns": columns, "rows": read, "error": said}
}
