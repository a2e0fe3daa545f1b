import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Terminal } from "../command/terminal.ts";
import { importPgbouncerCommand } from "./importCommand.ts";
import { readIni, readPairs, readUserlist } from "./ini.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-import-"));
afterAll(() => rmSync(folder, { recursive: true }));

const shared = `
; one account for all
[databases]
app = host=10.0.0.1,10.0.0.2 port=5433 user=svc password='se''cret' pool_size=12
[pgbouncer]
listen_addr = *
auth_type = scram-sha-256
auth_file = users.txt
pool_mode = transaction
max_client_conn = 500
query_timeout = 30
server_tls_sslmode = verify-full
server_tls_ca_file = /etc/ca.pem
client_tls_sslmode = require
client_tls_key_file = /etc/k.pem
client_tls_cert_file = /etc/c.pem
`;

describe("importPgbouncerCommand", () => {
  it("writes a valid config of databases, pools, times, TLS and users", async () => {
    writeFileSync(join(folder, "users.txt"), '"ann" "her own"\n"bob" "md5nothing"\n');
    const { code, document, out } = await imported(shared);
    expect(code).toBe(0);
    expect(document).toMatchObject({
      gateway: {
        frontends: {
          postgresWire: {
            host: "0.0.0.0",
            port: 6432,
            maxConnections: 500,
            tls: { certFile: "/etc/c.pem", keyFile: "/etc/k.pem" },
          },
        },
      },
      clusters: {
        app: {
          engine: "postgresql",
          hosts: ["10.0.0.1:5433", "10.0.0.2:5433"],
          database: "app",
          poolMode: "transaction",
          poolSize: 12,
          auth: { username: "svc", password: { secretRef: "env:GATEWAY_SECRET_APP" } },
          tls: { caFile: "/etc/ca.pem" },
        },
      },
      clusterGroups: { app: { maxRunningQueries: 12, maxExecutionSecs: 30 } },
      routingFallback: "app",
    });
    expect(out).not.toMatch(/se'cret|her own/);
    const { ann } = users(document);
    expect(ann).toMatchObject({
      passwordHash: expect.stringMatching(/^\$2b\$/) as unknown,
      scramVerifier: expect.stringMatching(/^SCRAM-SHA-256\$/) as unknown,
    });
  });

  it("says what it can not carry over, in the file and beside it", async () => {
    const { out, err, document } = await imported(`
[databases]
one = host=a
two = dbname=other host=b connect_query='select 1'
* = host=c
[users]
ann = pool_mode=session
[pgbouncer]
server_reset_query = SELECT 1
max_prepared_statements = 100
auth_query = select 1
unheard_of = 1
%include secret = "s3cret"
`);
    for (const said of [
      "line 13: not read",
      "server_reset_query: a connection is cleaned",
      "auth_query: logins are not looked up",
      "unheard_of: PgBouncer's setting is not known here",
      "two: connect_query is not carried over",
      "two: clients have to name the server's own database, other",
      "*: a database of any name has no counterpart",
      "limits of user ann",
      "several databases",
      "auth_file",
    ]) {
      expect(err).toContain(said);
      expect(out).toContain(said);
    }
    expect(out).not.toMatch(/s3cret|max_prepared_statements/);
    // Without an account of its own each client needs its password.
    expect(document).toMatchObject({ clusters: { one: { queryAuth: { type: "passthrough" } } } });
  });

  it("answers 1 for what would be no config, and for a file that is not there", async () => {
    const broken = await imported("[databases]\na = host=b user=c pool_mode=often\n[pgbouncer]\n");
    expect(broken.code).toBe(1);
    expect(broken.err).toContain("poolMode");
    expect((await run(join(folder, "none.ini"))).code).toBe(1);
  });
});

describe("files of PgBouncer", () => {
  it("are read with their quotes and comments", () => {
    const { sections } = readIni('[A]\n# no\n"x y" = 1 ; 2\n');
    expect(sections.get("a")).toEqual([{ key: "x y", value: "1 ; 2", line: 3 }]);
    expect(readPairs("host=a  password='b ''c' port=")).toEqual(
      new Map([
        ["host", "a"],
        ["password", "b 'c"],
        ["port", ""],
      ]),
    );
    expect(readPairs("no pairs")).toBeUndefined();
    expect(readUserlist('"a""b" "c" ""\n\n;x\n"d" ""')).toEqual([
      { name: 'a"b', secret: "c" },
      { name: "d", secret: "" },
    ]);
  });
});

function users(document: unknown): Record<string, unknown> {
  const { auth } = document as {
    readonly auth: { readonly staticUsers: { readonly users: Record<string, unknown> } };
  };
  return auth.staticUsers.users;
}

async function imported(text: string) {
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, text);
  const ran = await run(file);
  return { ...ran, document: parse(ran.out) as unknown };
}

async function run(file: string) {
  const written = { out: "", err: "" };
  const terminal: Terminal = {
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    stdin: Readable.from([]),
    environment: {},
    bundle: new URL("file:///"),
  };
  const code = await importPgbouncerCommand(file, terminal);
  return { code, ...written };
}
