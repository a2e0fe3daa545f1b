import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import { openSession, readOptions, readStartup } from "./handshake.ts";
import { entriesOf, schemaFrom } from "../session/searchPath.ts";
import { parseTags } from "../session/tags.ts";

describe("readStartup", () => {
  it("takes user, database and settings by their names", () => {
    const opening = started({
      user: "ann",
      database: "shop",
      application_name: "psql",
      TimeZone: "Europe/Berlin",
      options: "-c gateway.tags=team:red",
    });
    expect(opening).toEqual({
      ok: true,
      value: {
        user: "ann",
        database: "shop",
        settings: new Map([
          ["gateway.tags", "team:red"],
          ["application_name", "psql"],
          ["timezone", "Europe/Berlin"],
        ]),
        minor: 0,
        unknownOptions: undefined,
      },
    });
  });

  it("takes the user's name for a database that is not named", () => {
    expect(started({ user: "ann" })).toMatchObject({ value: { database: "ann" } });
  });

  it("lets a parameter of its own win over the same in options", () => {
    const opening = started({ user: "a", options: "-c application_name=x", application_name: "y" });
    expect(opening).toMatchObject({ value: { settings: new Map([["application_name", "y"]]) } });
  });

  it("takes no identity from anything but the user", () => {
    const opening = started({ user: "ann", session_authorization: "root", is_superuser: "on" });
    expect(opening).toMatchObject({ value: { user: "ann", settings: new Map() } });
  });

  it.each([
    [{}, 3, "auth.required"],
    [{ user: "" }, 3, "auth.required"],
    [{ user: "a", replication: "true" }, 3, "query.unsupported"],
    [{ user: "a", client_encoding: "MULE_INTERNAL" }, 3, "query.unsupported"],
    [{ user: "a", options: "-x" }, 3, "query.invalid"],
    [{ user: "a", surprise: "on" }, 3, "query.unknownObject"],
    [{ user: "a", options: "-c surprise=on" }, 3, "query.unknownObject"],
    [{ user: "a", TimeZone: "Nowhere" }, 3, "query.invalid"],
    [{ user: "a" }, 2, "query.unsupported"],
  ])("refuses %j of version %i with %s", (parameters, major, code) => {
    expect(started(parameters, major)).toMatchObject({ ok: false, error: { code } });
  });

  it("says what it does not speak of a newer protocol", () => {
    expect(started({ user: "a" }, 3, 2)).toMatchObject({
      value: { minor: 2, unknownOptions: undefined },
    });
    expect(started({ user: "a" }, 3, 9999)).toMatchObject({
      value: { minor: 2, unknownOptions: [] },
    });
    expect(started({ user: "a", "_pq_.compression": "on" })).toMatchObject({
      value: { minor: 0, unknownOptions: ["_pq_.compression"], settings: new Map() },
    });
  });
});

describe("readOptions", () => {
  it.each([
    ["", []],
    [
      "-c a=1 -c b=2",
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ],
    ["-ca=1", [["a", "1"]]],
    ["--search-path=x", [["search_path", "x"]]],
    ["-c a=one\\ two", [["a", "one two"]]],
    ["-c a=b=c", [["a", "b=c"]]],
    ["-c a=", [["a", ""]]],
  ])("reads %j", (text, expected) => {
    expect(readOptions(text)).toEqual(expected);
  });

  it.each(["-c", "-c a", "-c =1", "a=1", "-d 5", "--"])("refuses %j", (text) => {
    expect(readOptions(text)).toBeUndefined();
  });

  it("never throws, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const options = readOptions(text);
        for (const [name] of options ?? []) expect(name).not.toBe("");
      }),
    );
  });
});

describe("openSession", () => {
  it("takes the database for a catalog only where an engine has one of that name", () => {
    const door = scriptedDoor({ answers: {}, catalogs: ["lake"] });
    expect(sessionFor("lake", door).catalog).toBe("lake");
    expect(sessionFor("postgres", door).catalog).toBeUndefined();
  });

  it("spells the database as its engine does", () => {
    const door = scriptedDoor({ answers: {}, catalogs: ["DB1", "db2", "DB2"] });
    expect(sessionFor("db1", door).catalog).toBe("DB1");
    expect(sessionFor("db2", door).catalog).toBe("db2");
    expect(sessionFor("DB2", door).catalog).toBe("DB2");
  });

  it("refuses a database that no engine has, once the catalogs of all are known", () => {
    const doorOf = (...catalogs: readonly (readonly string[])[]) => ({
      ...scriptedDoor({ answers: {}, catalogs: catalogs.flat() }),
      engines: () => catalogs.map((names) => ({ catalogs: names })),
    });
    const both = doorOf(["lake"], ["memory"]);
    expect(openedFor("nowhere", both)).toMatchObject({
      error: { sqlState: "3D000", message: 'database "nowhere" does not exist' },
    });
    for (const name of ["lake", "memory", "ann", "postgres"]) {
      expect(openedFor(name, both).ok).toBe(true);
    }
    expect(openedFor("nowhere", doorOf(["lake"], [])).ok).toBe(true);
    expect(openedFor("nowhere", doorOf()).ok).toBe(true);
  });

  it("starts with the tags and the schema of the start-up packet", () => {
    const door = scriptedDoor({ answers: {} });
    const session = sessionFor("memory", door, {
      options: "-c gateway.tags=a:b -c search_path=sales",
    });
    expect(session.tags).toEqual(new Map([["a", "b"]]));
    expect(session.schema).toBe("sales");
  });
});

describe("parseTags", () => {
  it("takes a word without a colon as a key", () => {
    expect(parseTags("a:b:c, d ,,")).toEqual(
      new Map([
        ["a", "b:c"],
        ["d", ""],
      ]),
    );
  });

  it("refuses more or longer ones than a session may have", () => {
    expect(parseTags(Array.from({ length: 65 }, (_, n) => `k${n}`).join(","))).toBeUndefined();
    expect(parseTags(`k:${"v".repeat(300)}`)).toBeUndefined();
  });
});

describe("schemaFrom", () => {
  it("finds the first entry that means something to a backend", () => {
    expect(schemaFrom('"$user", public')).toBeUndefined();
    expect(schemaFrom("pg_catalog, Sales, x")).toBe("sales");
    expect(entriesOf('"A ""b""", c,,"d,e"')).toEqual(['A "b"', "c", "d,e"]);
  });
});

function started(parameters: Record<string, string | undefined>, major = 3, minor = 0) {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return readStartup({ kind: "startup", major, minor, parameters: new Map(pairs) });
}

function sessionFor(...opening: Parameters<typeof openedFor>) {
  const session = openedFor(...opening);
  if (!session.ok) throw new Error(session.error.message);
  return session.value;
}

function openedFor(
  database: string,
  door: ReturnType<typeof scriptedDoor>,
  more: Record<string, string> = {},
) {
  const opening = started({ user: "ann", database, ...more });
  if (!opening.ok) throw new Error(opening.error.message);
  const login = {
    identity: { user: "ann", groups: [], roles: [], method: "none" },
    credential: { kind: "none" },
  } as const;
  return openSession(opening.value, login, "127.0.0.1", door);
}
