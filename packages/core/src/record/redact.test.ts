import { canonicalJson } from "@gateway/contract/canonical.ts";
import { errorCatalogue } from "@gateway/contract/error.ts";
import { queryRecordSchema, recordTextMax, type QueryRecord } from "@gateway/contract/record.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { literalReading } from "../sql/mask/literals.ts";
import { inOneGo } from "../sql/reading/steps.ts";
import { recordOf } from "./rig/recordOf.ts";
import { dialectOf, redact, redactions, redactSql } from "./redact.ts";

describe("redact full", () => {
  it("keeps every field and adds the hash of the text and of its digest", () => {
    const record = recordOf({ sql: "select 'a'", errorMessage: "no 'a'", tags: { team: "a" } });
    const { sqlHash, digestHash, ...rest } = redact(record, "full");
    const same = recordOf({ sql: "select 'a'", errorMessage: "no 'a'", tags: { team: "a" } });
    expect(JSON.parse(canonicalJson(rest))).toEqual(same);
    expect(sqlHash).toMatch(/^[0-9a-f]{32}$/);
    expect(digestHash).toMatch(/^[0-9a-f]{32}$/);
    const other = redact(recordOf({ sql: "SELECT  'b'" }), "full");
    expect(other.digestHash).toBe(digestHash);
    expect(other.sqlHash).not.toBe(sqlHash);
  });
});

describe("redact maskLiterals", () => {
  it("keeps the digest's text instead of the statement, and no hash of the whole text", () => {
    const sql = "select name from people where pin = 'hunter2' and age > 42 -- hunter2";
    expect(masked({ sql })).toMatchObject({
      sql: "select name from people where pin = ? and age > ?",
      digestHash: redact(recordOf({ sql }), "full").digestHash,
    });
    expect(masked({ sql, sqlHash: "known" }).sqlHash).toBeUndefined();
  });

  it("keeps the fingerprint alone when the statement can not be read, and the catalogue's text of its error", () => {
    const record = masked({
      sql: "select 'hunter2",
      status: "failed",
      errorCode: "engine.broken",
      errorMessage: "unterminated quoted string at or near hunter2",
      routingTrace: [{ step: "fallback", outcome: "hunter2 is not allowed" }],
    });
    expect(record.sql).toBeUndefined();
    expect(record.digestHash).toMatch(/^[0-9a-f]{32}$/);
    expect(record.errorMessage).toBe(errorCatalogue["engine.broken"].text);
    expect(JSON.stringify(record)).not.toContain("hunter2");
  });

  it("keeps no text that the engine reads in another way than the client's dialect", () => {
    // One value in DuckDB; a parameter and names in PostgreSQL.
    expect(masked({ sql: "select $1$hunter2$1$" }).sql).toBeUndefined();
    expect(masked({ sql: "select 1", targetDialect: "mysql" }).sql).toBe("select ?");
  });

  it("masks the values of a translated statement and keeps its shape", () => {
    const translatedSql = "SELECT a FROM t WHERE pin = 'hunter2' LIMIT 10";
    expect(masked({ translatedSql }).translatedSql).toBe("SELECT a FROM t WHERE pin = ? LIMIT ?");
    expect(masked({ translatedSql, targetDialect: undefined }).translatedSql).toBe(
      "SELECT a FROM t WHERE pin = ? LIMIT ?",
    );
    expect(masked({ translatedSql: "SELECT 'hunter2" }).translatedSql).toBeUndefined();
  });

  it("masks a value that only the translated statement has in the engine's words about it", () => {
    const record = masked({
      translatedSql: "select * from t where region = 'emeasouth'",
      errorMessage: "no partition emeasouth",
    });
    expect(record.errorMessage).toBe("no partition ?");
  });

  it("masks values in the trace, in tags and in policy actions, and leaves places and groups readable", () => {
    const record = masked({
      sql: "select * from t where pin = 'hunter2'",
      tags: { team: "data", note: "for hunter2", ticket: "4711" },
      routingTrace: [
        { step: "queryRegex[2]", outcome: "rule 3: group main" },
        { step: "script hunter2", outcome: "matched hunter2 and 'other' and 99" },
      ],
      policyActions: ["masked column pin of hunter2"],
    });
    expect(record).toMatchObject({
      tags: { team: "data", note: "for ?", ticket: "?" },
      routingTrace: [
        { step: "queryRegex[2]", outcome: "rule 3: group main" },
        { step: "script ?", outcome: "matched ? and ? and ?" },
      ],
      policyActions: ["masked column pin of ?"],
    });
  });

  it("keeps the trace of a statement with more values than are looked for", () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => `(${n}, 'name${n}')`).join(", ");
    const record = masked({
      sql: `insert into t values ${rows}`,
      errorCode: "internal.bug",
      errorMessage: "name17 is there already",
    });
    expect(record.sql).toBe("insert into t values (?, ?)");
    expect(record.routingTrace).toEqual([{ step: "fallback", outcome: "group main" }]);
    expect(record.errorMessage).toBe(errorCatalogue["internal.bug"].text);
  });

  it("reads no long text that was not read ahead, whose words stand for its values", () => {
    const sql = `select pin from people where name = 'ann' ${"-- a comment\n".repeat(6_000)}`;
    const routingTrace = [{ step: "fallback", outcome: "no people like ann" }];
    const outcome = () => masked({ sql, routingTrace }).routingTrace[0]?.outcome;
    expect(outcome()).toBe("no ? like ?");
    inOneGo(literalReading("postgres").ahead(sql));
    inOneGo(literalReading("duckdb").ahead(sql));
    expect(outcome()).toBe("no people like ?");
  });

  it("takes every word for a value where the text is too long to look for it", () => {
    const record = masked({
      sql: `select '${"b".repeat(2_200_000)}'`,
      tags: { team: "data" },
      routingTrace: [{ step: "queryRegex[2]", outcome: "rule 3: group main" }],
    });
    expect(record.tags).toEqual({ "?": "?" });
    expect(record.routingTrace).toEqual([{ step: "queryRegex[2]", outcome: "rule 3: ? ?" }]);
  });

  it("leaves the catalogue's own text alone", () => {
    const { text } = errorCatalogue["query.timeout"];
    const record = masked({ errorCode: "query.timeout", errorMessage: text });
    expect(record.errorMessage).toBe(text);
  });
});

describe("redact metadata", () => {
  it("keeps fingerprints, times, status and statistics, and no text of client, engine or rule", () => {
    const record = recordOf({
      sql: "select 'hunter2'",
      translatedSql: "select 'hunter2'",
      errorCode: "engine.broken",
      errorMessage: "hunter2",
      tags: { team: "hunter2" },
      routingTrace: [{ step: "fallback", outcome: "hunter2" }],
      policyActions: ["hunter2"],
      engineStats: { cpuMs: 3 },
    });
    const kept = redact(record, "metadata");
    expect(JSON.stringify(kept)).not.toContain("hunter2");
    expect(kept).toMatchObject({
      user: "alice",
      errorCode: "engine.broken",
      engineStats: { cpuMs: 3 },
    });
    expect(kept.digestHash).toBe(redact(record, "full").digestHash);
    expect(kept.sqlHash).toBeUndefined();
  });

  it("drops a field that nobody listed", () => {
    const record = { ...recordOf(), planText: "hunter2" } as QueryRecord;
    expect(JSON.stringify(redact(record, "metadata"))).not.toContain("hunter2");
  });
});

describe("redact", () => {
  it("answers what the schema and canonical JSON take, whatever the texts are", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const lone = fc.constantFrom("\uD800", "a\0b", "x".repeat(2_000), "\uDC00'");
    const anyText = fc.oneof(text, lone);
    const holds = fc.property(
      anyText,
      anyText,
      fc.constantFrom(...redactions),
      fc.constantFrom("postgres", "mysql", "trino", "clickhouse", "klingon"),
      (sql, other, mode, sourceDialect) => {
        const record = recordOf({
          sql,
          sourceDialect,
          user: other,
          catalog: other,
          errorMessage: other,
          tags: { team: other },
          queueMs: Number.NaN,
          engineStats: { rows: Number.POSITIVE_INFINITY },
        });
        const kept = redact(record, mode);
        expect(queryRecordSchema.safeParse(JSON.parse(canonicalJson(kept))).error).toBeUndefined();
        expect(canonicalJson(kept)).not.toContain("\\u0000");
      },
    );
    fc.assert(holds);
  });

  it("cuts a text that no store would take", () => {
    const kept = redact(recordOf({ sql: "x".repeat(recordTextMax + 9) }), "full");
    expect(kept.sql).toHaveLength(recordTextMax);
  });
});

describe("redactSql", () => {
  it("looks at each text again that is not the one before", () => {
    const fields = [
      "worker",
      "frontend",
      "user",
      "clientAddress",
      "clusterGroup",
      "cluster",
    ] as const;
    const more = ["engine", "catalog", "schema", "sql", "translatedSql", "errorMessage"] as const;
    for (const field of [...fields, ...more, "backendQueryId", "enginePrincipal"] as const) {
      for (const text of ["good", "od\0d", "half \ud800", "good"]) {
        const kept = redact(recordOf({ [field]: text }), "full")[field];
        expect(kept).toBe(text.toWellFormed().replace("\0", "\uFFFD"));
      }
    }
    for (const outcome of ["good", "od\0d", "good"]) {
      const routingTrace = [{ step: "fallback", outcome }];
      const [step] = redact(recordOf({ routingTrace }), "full").routingTrace;
      expect(step?.outcome).toBe(outcome.replace("\0", "\uFFFD"));
    }
  });

  it("shows of a running statement what its record will tell", () => {
    const sql = "select 'hunter2'";
    expect(redactSql(sql, ["postgres"], "full")).toBe(sql);
    expect(redactSql(sql, ["postgres"], "maskLiterals")).toBe("select ?");
    expect(redactSql("select 'hunter2", ["postgres"], "maskLiterals")).toBeUndefined();
    expect(redactSql(sql, ["postgres"], "metadata")).toBeUndefined();
  });
});

describe("dialectOf", () => {
  it("takes an unknown name for one that nobody knows", () => {
    expect(dialectOf("mysql")).toBe("mysql");
    expect(dialectOf("constructor")).toBe("generic");
    expect(dialectOf(undefined)).toBe("generic");
  });
});

function masked(traits: Partial<QueryRecord>): QueryRecord {
  return redact(recordOf(traits), "maskLiterals");
}
