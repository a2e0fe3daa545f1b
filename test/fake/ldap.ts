/**
 * A directory of a few entries that speaks enough of LDAP (RFC 4511): bind, search, StartTLS, unbind.
 * It remembers who was bound and the shape of every filter, and can misbehave on command.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from "node:tls";

export type LdapMood =
  | "well"
  /** Takes requests and never answers. */
  | "silent"
  | "garbage"
  /** Answers a search without end. */
  | "endless"
  /** Sends to another directory. */
  | "referring"
  /** Says of every search that its base does not exist. */
  | "baseless"
  | "hangingUp"
  /** Says it is busy. */
  | "busy"
  /** Puts a successful bind in clear behind the answer to StartTLS. */
  | "injecting";

export interface LdapEntry {
  readonly dn: string;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  readonly password?: string;
}

export interface FakeLdapOptions {
  readonly entries: readonly LdapEntry[];
  /** With a key and a certificate it speaks StartTLS, and LDAPS when `ldaps` is set. */
  readonly tls?: TlsOptions;
  readonly ldaps?: boolean;
}

type Filter =
  | { readonly kind: "and" | "or" | "not"; readonly parts: readonly Filter[] }
  | { readonly kind: "equal" | "other"; readonly attribute: string; readonly value: string };

export class FakeLdap implements AsyncDisposable {
  readonly #options: FakeLdapOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  mood: LdapMood = "well";
  /** What whoever binds by a name is answered, whatever the password (RFC 4511 appendix A). */
  namedCode: number | undefined;
  /** Names of every bind, in order; a bind without a name is the empty text. */
  readonly binds: string[] = [];
  /** Every filter with its values left out. */
  readonly shapes = new Set<string>();
  /** Values that were compared. */
  readonly values: string[] = [];
  connections = 0;
  /** Told the server name of each connection that begins with TLS; false where the client said none. */
  onSecured: (name: string | false) => void = () => undefined;
  /** Whether a bind without a password succeeds, as nobody (RFC 4513 §5.1.2); many directories do. */
  letsNobodyIn = true;
  /** Waited for before a bind is answered; `known`: to an entry that there is. */
  beforeBind: ((known: boolean) => Promise<void>) | undefined;

  private constructor(options: FakeLdapOptions) {
    this.#options = options;
    this.#server =
      options.ldaps === true
        ? createTlsServer({ ...options.tls, noDelay: true })
        : createServer({ noDelay: true });
    const event = options.ldaps === true ? "secureConnection" : "connection";
    this.#server.on(event, (socket: Socket) => this.#accept(socket));
  }

  static async start(options: FakeLdapOptions): Promise<FakeLdap> {
    const fake = new FakeLdap(options);
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#options.ldaps === true ? "ldaps" : "ldap"}://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    if (socket instanceof TLSSocket) this.onSecured(socket.servername ?? false);
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    this.#serve(socket);
  }

  #serve(socket: Socket): void {
    let rest: Buffer = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (piece: Buffer) => {
      rest = Buffer.concat([rest, piece]);
      for (let message = elementOf(rest); message !== undefined; message = elementOf(rest)) {
        rest = rest.subarray(message.end);
        this.#answer(socket, message.content);
      }
    });
  }

  #answer(socket: Socket, message: Buffer): void {
    const id = elementOf(message);
    const operation = id && elementOf(message.subarray(id.end));
    if (id === undefined || operation === undefined) return void socket.destroy();
    const reply = (tag: number, ...parts: Buffer[]): void =>
      void socket.write(ber(0x30, ber(0x02, id.content), ber(tag, ...parts)));
    switch (this.mood) {
      case "silent":
        return;
      case "garbage":
        return void socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]));
      case "hangingUp":
        return void socket.destroy();
      default:
        break;
    }
    switch (operation.tag) {
      case 0x60:
        return this.#bind(operation.content, reply);
      case 0x63:
        return this.#search(operation.content, reply);
      case 0x77:
        return this.#startTls(socket, reply);
      default:
        return void socket.destroy();
    }
  }

  #bind(content: Buffer, reply: Reply): void {
    const [, name, simple] = elementsOf(content);
    const dn = name?.content.toString() ?? "";
    const password = simple?.content.toString() ?? "";
    this.binds.push(dn);
    if (this.mood === "busy") return reply(0x61, ...result(51));
    if (this.mood === "referring") return reply(0x61, ...result(10));
    if (this.namedCode !== undefined && dn !== "") return reply(0x61, ...result(this.namedCode));
    const entry = this.#options.entries.find((one) => sameName(one.dn, dn));
    const right =
      (password === "" && this.letsNobodyIn) ||
      (entry?.password !== undefined && entry.password === password);
    const answer = (): void => reply(0x61, ...result(right ? 0 : 49));
    if (this.beforeBind === undefined) return answer();
    void this.beforeBind(entry !== undefined).then(answer);
  }

  #search(content: Buffer, reply: Reply): void {
    const parts = elementsOf(content);
    const base = parts[0]?.content.toString() ?? "";
    const limit = parts[3]?.content.readUIntBE(0, parts[3].content.length) ?? 0;
    const filter = filterOf(parts[6]);
    this.shapes.add(shapeOf(filter));
    this.values.push(...valuesOf(filter));
    if (this.mood === "referring") return reply(0x65, ...result(10));
    if (this.mood === "baseless") return reply(0x65, ...result(32));
    if (this.mood === "endless") {
      const big = ber(0x30, ber(0x04, text("uid")), ber(0x31, ber(0x04, Buffer.alloc(1 << 20))));
      for (let n = 0; n < 8; n += 1) reply(0x64, ber(0x04, text(`uid=${n}`)), ber(0x30, big));
      return;
    }
    const under = this.#options.entries.filter((entry) => isUnder(entry.dn, base));
    const found = under.filter((entry) => matches(entry, filter));
    const sent = limit === 0 ? found : found.slice(0, limit);
    for (const { dn, attributes } of sent) {
      const list = Object.entries(attributes).map(([name, values]) =>
        ber(0x30, ber(0x04, text(name)), ber(0x31, ...values.map((one) => ber(0x04, text(one))))),
      );
      reply(0x64, ber(0x04, text(dn)), ber(0x30, ...list));
    }
    // A continuation to another directory (RFC 4511 §4.5.3), which nobody may follow.
    reply(0x73, ber(0x04, text("ldap://192.0.2.1/dc=elsewhere")));
    reply(0x65, ...result(sent.length < found.length ? 4 : 0));
  }

  #startTls(socket: Socket, reply: Reply): void {
    if (this.#options.tls === undefined) return reply(0x78, ...result(2));
    socket.removeAllListeners("data");
    socket.pause();
    reply(0x78, ...result(0));
    if (this.mood === "injecting") {
      socket.write(ber(0x30, ber(0x02, Buffer.from([2])), ber(0x61, ...result(0))));
    }
    const secured = new TLSSocket(socket, { ...this.#options.tls, isServer: true });
    this.#serve(secured);
  }
}

type Reply = (tag: number, ...parts: Buffer[]) => void;

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly end: number;
}

/** The BER element at the start, or undefined while it is incomplete. */
function elementOf(bytes: Buffer): Element | undefined {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (bytes.length < 2 + count) return undefined;
  const length = count === 0 ? first : bytes.readUIntBE(2, count);
  const end = 2 + count + length;
  if (bytes.length < end) return undefined;
  return { tag, content: bytes.subarray(2 + count, end), end };
}

function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = elementOf(bytes.subarray(at));
    if (element === undefined) throw new Error("a request in half");
    elements.push(element);
    at += element.end;
  }
  return elements;
}

function ber(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(6);
  head.set([tag, 0x84]);
  head.writeUInt32BE(content.length, 2);
  return Buffer.concat([head, content]);
}

function text(value: string): Buffer {
  return Buffer.from(value, "utf8");
}

function result(code: number): readonly Buffer[] {
  const referral = code === 10 ? [ber(0xa3, ber(0x04, text("ldap://192.0.2.1/")))] : [];
  return [ber(0x0a, Buffer.from([code])), ber(0x04), ber(0x04), ...referral];
}

function filterOf(element: Element | undefined): Filter {
  if (element === undefined) throw new Error("a search without a filter");
  const { tag, content } = element;
  const parts = tag === 0x87 ? [] : elementsOf(content);
  if (tag === 0xa0) return { kind: "and", parts: parts.map(filterOf) };
  if (tag === 0xa1) return { kind: "or", parts: parts.map(filterOf) };
  if (tag === 0xa2) return { kind: "not", parts: parts.map(filterOf) };
  const attribute = parts[0]?.content.toString() ?? content.toString();
  const value = parts[1]?.content.toString() ?? "";
  return { kind: tag === 0xa3 ? "equal" : "other", attribute, value };
}

function shapeOf(filter: Filter): string {
  if ("parts" in filter) return `(${filter.kind}${filter.parts.map(shapeOf).join("")})`;
  return `(${filter.attribute} ${filter.kind})`;
}

function valuesOf(filter: Filter): readonly string[] {
  return "parts" in filter ? filter.parts.flatMap(valuesOf) : [filter.value];
}

function matches(entry: LdapEntry, filter: Filter): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => matches(entry, part));
    case "or":
      return filter.parts.some((part) => matches(entry, part));
    case "not":
      return !filter.parts.some((part) => matches(entry, part));
    case "other":
      // Every entry has a class.
      if (filter.attribute.toLowerCase() === "objectclass") return true;
      return filter.value === "" && entry.attributes[filter.attribute] !== undefined;
    case "equal":
      return (entry.attributes[filter.attribute] ?? []).some((one) => same(one, filter.value));
  }
}

/** Without case and outer spaces, as directories compare most attributes (RFC 4518 §2). */
function same(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

/** Names are compared without case and with their escapes read. */
function sameName(a: string, b: string): boolean {
  return plainName(a) === plainName(b);
}

function isUnder(dn: string, base: string): boolean {
  return plainName(dn).endsWith(plainName(base));
}

/** Escaped bytes become letters of their own, so that an escaped comma separates nothing. */
function plainName(dn: string): string {
  const read = dn.replaceAll(/\\([0-9a-fA-F]{2})/g, (_all, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code === 0x2c || code === 0x3d ? `<${hex}>` : String.fromCharCode(code);
  });
  return read.toLowerCase();
}
