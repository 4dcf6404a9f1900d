// pgx 5, with extended and with simple queries
package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

func check(what string, got, expected interface{}) {
	if reflect.DeepEqual(got, expected) {
		fmt.Printf("ok - %s\n", what)
	} else {
		fmt.Printf("not ok - %s: %#v\n", what, got)
	}
}

func must(err error) {
	if err != nil {
		fmt.Printf("not ok - %s\n", err)
		os.Exit(1)
	}
}

func run(mode string, simple bool) {
	ctx := context.Background()
	config, err := pgx.ParseConfig("")
	must(err)
	if simple {
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	must(err)
	defer conn.Close(ctx)

	// the first values of all rows, printed; or the error's SQLSTATE or text
	values := func(query string, args ...interface{}) (all []string) {
		rows, err := conn.Query(ctx, query, args...)
		if err == nil {
			for rows.Next() {
				row, err := rows.Values()
				must(err)
				all = append(all, fmt.Sprint(row[0]))
			}
			err = rows.Err()
		}
		if e, ok := err.(*pgconn.PgError); ok {
			return []string{e.Code}
		} else if err != nil {
			return []string{err.Error()}
		}
		return all
	}

	fp := uint64(17841137466214345717)
	text := strconv.FormatUint(fp, 10)
	_, err = conn.Exec(ctx, "INSERT INTO docs VALUES ($1, $2::simhash)", 10, text)
	must(err)

	near := values(`
		SELECT fp <~> $1::simhash AS distance FROM docs
		 WHERE fp <~> $1::simhash <= $2::int
		 ORDER BY fp <~> $1::simhash LIMIT 10`, text, 3)

	some := values("SELECT id FROM docs WHERE fp % ANY ($1::simhash[]) ORDER BY id",
		[]string{text, "1"})

	ofText := values("SELECT simhash_minhash($1::text)", "hello world")
	ofBytes := values("SELECT simhash_minhash($1::bytea)",
		[]byte{0, 1, 92, 39, 128, 255, 97, 98, 99, 100, 101, 102})
	ofFeatures := values("SELECT simhash_minhash($1::text[])", []string{"alpha", "beta"})
	ofHashes := values("SELECT simhash_minhash($1::bigint[])", []int64{-1, -1, 5})

	var read string
	var signed int64
	err = conn.QueryRow(ctx, "SELECT fp, fp::bigint FROM docs WHERE id = 10").Scan(&read, &signed)
	must(err)
	unsigned, err := strconv.ParseUint(read, 10, 64)
	must(err)
	same := uint64(signed)

	_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader("20\t"+text+"\n21\t-1\n"),
		"COPY docs (id, fp) FROM STDIN")
	must(err)

	check(mode+": nearest first", near, []string{"0", "0", "1"})
	check(mode+": any of an array", some, []string{"1", "2", "3", "10"})
	check(mode+": computed", [][]string{ofText, ofBytes, ofFeatures, ofHashes}, [][]string{
		{"3568961919840134528"}, {"720769818233651409"}, {"7023365908306380860"}, {"18218831152844919349"}})
	check(mode+": read exactly", []uint64{unsigned, same}, []uint64{fp, fp})
	check(mode+": COPY", values("SELECT fp FROM docs WHERE id >= 20 ORDER BY id"),
		[]string{text, "18446744073709551615"})

	equal := "SELECT fp FROM docs WHERE fp = CAST($1 AS simhash) LIMIT 1"
	check(mode+": a uint64", values(equal, fp), []string{text})
	check(mode+": an int64", values(equal, int64(fp)), []string{text})
	check(mode+": a negative number before ::",
		values("SELECT fp FROM docs WHERE fp = $1::simhash LIMIT 1", int64(fp)), []string{text})
	var number uint64
	must(conn.QueryRow(ctx, "SELECT fp FROM docs WHERE id = 10").Scan(&number))
	check(mode+": read as a uint64", number, fp)
	check(mode+": as a bigint", values("SELECT fp FROM docs WHERE fp = $1::bigint LIMIT 1", int64(fp)), []string{text})
	check(mode+": hexadecimal", values(equal, "0xF79873FFC69E6BF5"), []string{text})
	check(mode+": array of int64", values("SELECT id FROM docs WHERE fp = ANY ($1::bigint[]) ORDER BY id",
		[]int64{int64(fp), 1}), []string{"1", "3", "10", "20"})
	check(mode+": an index by its name", values("SELECT count(*) > 0 FROM simhash_find_all($1::regclass)",
		"docs_fp"), []string{"true"})

	body := "The Harbor Bridge is closed until Monday; and buses take the tunnel!"
	alike := values("SELECT id FROM texts WHERE body =~= $1", body)

	pdq := bytes.Repeat([]byte{0x0f}, 32)
	digits := hex.EncodeToString(pdq)
	_, err = conn.Exec(ctx, "INSERT INTO images VALUES ($1, $2)", 10, digits)
	must(err)
	images := values(`
		SELECT id FROM images
		 WHERE pdq <~> $1::simhash_bits(256) <= $2::int ORDER BY id`, digits, 31)
	byBytes := values("SELECT id FROM images WHERE pdq % $1::bytea::simhash_bits ORDER BY id", pdq)

	var hash string
	var raw []byte
	err = conn.QueryRow(ctx, "SELECT pdq, pdq::bytea FROM images WHERE id = 10").Scan(&hash, &raw)
	must(err)

	check(mode+": a text", alike, []string{"1"})
	check(mode+": any of some texts", values("SELECT id FROM texts WHERE body =~= ANY ($1::text[])",
		[]string{body, "..."}), []string{"1"})
	check(mode+": hexadecimal digits", images, []string{"1", "2", "10"})
	check(mode+": bytes", byBytes, []string{"1", "2", "10"})
	check(mode+": read as digits and as bytes", []string{hash, string(raw)}, []string{digits, string(pdq)})
	check(mode+": array of digits", values("SELECT id FROM images WHERE pdq % ANY ($1::simhash_bits[]) ORDER BY id",
		[]string{digits, strings.Repeat("f0", 32)}), []string{"1", "2", "3", "10"})
	check(mode+": too few digits", values("SELECT $1::simhash_bits(256)", digits[2:]), []string{"22026"})
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"images"}, []string{"id", "pdq"},
		pgx.CopyFromRows([][]interface{}{{30, digits}}))
	check(mode+": CopyFrom refuses digits", err != nil, true)

	if !simple {
		var oid uint32
		err = conn.QueryRow(ctx, "SELECT 'simhash_bits'::regtype::oid").Scan(&oid)
		must(err)
		conn.TypeMap().RegisterType(&pgtype.Type{Name: "simhash_bits", OID: oid, Codec: pgtype.ByteaCodec{}})

		_, err = conn.CopyFrom(ctx, pgx.Identifier{"images"}, []string{"id", "pdq"},
			pgx.CopyFromRows([][]interface{}{{20, pdq}}))
		must(err)
		err = conn.QueryRow(ctx, "SELECT pdq FROM images WHERE pdq % $1 AND id = 20", pdq).Scan(&raw)
		must(err)
		check(mode+": bytes in the binary format", raw, pdq)
	}
	_, err = conn.Exec(ctx, "DELETE FROM images WHERE id >= 10")
	must(err)

	// what the page warns of
	array := values("SELECT simhash_minhash($1)", []string{"alpha", "beta"})
	untyped := values("SELECT simhash_minhash($1)", []byte("alphabetagaga"))
	if simple {
		check(mode+": an array without a type is taken as text", array,
			values("SELECT simhash_minhash('{alpha,beta}'::text)"))
		check(mode+": as are bytes, in hexadecimal", untyped,
			values(`SELECT simhash_minhash('\x616c7068616265746167616761'::text)`))
	} else {
		check(mode+": an array without a type is an error",
			strings.Contains(array[0], "unable to encode"), true)
		check(mode+": bytes without a type are taken as text", untyped,
			values("SELECT simhash_minhash('alphabetagaga'::text)"))
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"docs"}, []string{"id", "fp"},
		pgx.CopyFromRows([][]interface{}{{30, "12345678"}}))
	must(err)
	check(mode+": CopyFrom takes a string as bytes",
		values("SELECT fp::text FROM docs WHERE id = 30"), []string{"3544952156018063160"})

	for _, greeting := range []string{"hello world", "Hello, world!"} {
		_, err = conn.Exec(ctx, "INSERT INTO corpus (body) VALUES ($1) ON CONFLICT DO NOTHING", greeting)
		must(err)
	}
	check(mode+": kept out", values("SELECT body FROM corpus"), []string{"hello world"})
	_, err = conn.Exec(ctx, "DELETE FROM docs WHERE id >= 10")
	must(err)
}

func main() {
	run("extended", false)
	run("simple", true)
}
