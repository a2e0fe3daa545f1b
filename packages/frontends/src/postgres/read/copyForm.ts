/**
 * The forms in which `COPY … TO STDOUT` writes rows, and PostgreSQL's rules for their options.
 *
 * Pure. Where the options stand in the text is `copyStatement.ts`; the bytes are `copyRows.ts`.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

export type CopyForm =
  | { readonly kind: "binary" }
  | { readonly kind: "text"; readonly plain: PlainForm }
  | {
      readonly kind: "csv";
      readonly plain: PlainForm;
      /** One ASCII character each, by its code. */
      readonly quote: number;
      readonly escape: number;
      /** Names of columns that are always quoted. */
      readonly forceQuote: "all" | readonly string[];
    };

/** What text and CSV have in common. */
export interface PlainForm {
  readonly header: boolean;
  /** One ASCII character by its code. */
  readonly delimiter: number;
  readonly nullText: string;
}

/** Options as written, by lower-case name; a later one of the same name is a conflict. */
export interface CopyOptions {
  format?: string;
  header?: boolean;
  delimiter?: string;
  null?: string;
  quote?: string;
  escape?: string;
  force_quote?: "all" | readonly string[];
  encoding?: string;
}

const tab = "\t";

/** The form that the options ask for, or PostgreSQL's own refusal of them. */
export function copyFormOf(options: CopyOptions): Result<CopyForm, GatewayError> {
  const format = options.format ?? "text";
  if (format !== "text" && format !== "csv" && format !== "binary") {
    return refuse("22023", `COPY format "${format}" not recognized`);
  }
  const encoding = (options.encoding ?? "utf8").replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase();
  if (encoding !== "UTF8" && encoding !== "UNICODE" && encoding !== "SQLASCII") {
    return refuse("0A000", "COPY writes UTF-8 only");
  }
  if (format === "binary") return binaryOf(options);
  const csv = format === "csv";
  const delimiter = options.delimiter ?? (csv ? "," : tab);
  const nullText = options.null ?? (csv ? "" : "\\N");
  const header = options.header ?? false;
  const wrong = plainProblem(delimiter, nullText, csv);
  if (wrong !== undefined) return err(wrong);
  const plain = { header, delimiter: delimiter.charCodeAt(0), nullText };
  return csv ? csvOf(options, plain) : textOf(options, plain);
}

function binaryOf(options: CopyOptions): Result<CopyForm, GatewayError> {
  if (options.delimiter !== undefined) return refuse("42601", inBinary("DELIMITER"));
  if (options.null !== undefined) return refuse("42601", inBinary("NULL"));
  if (options.header === true) return refuse("0A000", inBinary("HEADER"));
  const csvOnly = csvOption(options);
  return csvOnly ?? ok({ kind: "binary" });
}

function inBinary(option: string): string {
  return `cannot specify ${option} in BINARY mode`;
}

function textOf(options: CopyOptions, plain: PlainForm): Result<CopyForm, GatewayError> {
  return csvOption(options) ?? ok({ kind: "text", plain });
}

/** Refuses an option that only CSV has. */
function csvOption({
  quote,
  escape,
  force_quote: force,
}: CopyOptions): Result<never, GatewayError> | undefined {
  if (quote !== undefined) return refuse("0A000", "COPY QUOTE requires CSV mode");
  if (escape !== undefined) return refuse("0A000", "COPY ESCAPE requires CSV mode");
  return force === undefined ? undefined : refuse("0A000", "COPY FORCE_QUOTE requires CSV mode");
}

function csvOf(options: CopyOptions, plain: PlainForm): Result<CopyForm, GatewayError> {
  const quote = options.quote ?? '"';
  const escape = options.escape ?? quote;
  if (!isOneByte(quote)) return refuse("0A000", "COPY quote must be a single one-byte character");
  if (!isOneByte(escape)) return refuse("0A000", "COPY escape must be a single one-byte character");
  if (quote.charCodeAt(0) === plain.delimiter) {
    return refuse("22023", "COPY delimiter and quote must be different");
  }
  if (plain.nullText.includes(quote)) {
    return refuse("22023", "CSV quote character must not appear in the NULL specification");
  }
  return ok({
    kind: "csv",
    plain,
    quote: quote.charCodeAt(0),
    escape: escape.charCodeAt(0),
    forceQuote: options.force_quote ?? [],
  });
}

/** Characters that mean something in the text form. */
const textDelimiters = /[\\.a-z0-9]/;

function plainProblem(delimiter: string, nullText: string, csv: boolean): GatewayError | undefined {
  if (!isOneByte(delimiter)) {
    return refusal("0A000", "COPY delimiter must be a single one-byte character");
  }
  if (/[\r\n]/.test(delimiter)) {
    return refusal("22023", "COPY delimiter cannot be newline or carriage return");
  }
  if (/[\r\n]/.test(nullText)) {
    return refusal("22023", "COPY null representation cannot use newline or carriage return");
  }
  if (!csv && textDelimiters.test(delimiter)) {
    return refusal("22023", `COPY delimiter cannot be "${delimiter}"`);
  }
  if (nullText.includes(delimiter)) {
    return refusal("22023", "COPY delimiter character must not appear in the NULL specification");
  }
  return undefined;
}

function isOneByte(text: string): boolean {
  return text.length === 1 && text.charCodeAt(0) < 0x80;
}

function refusal(sqlState: string, message: string): GatewayError {
  const code = sqlState === "0A000" ? "query.unsupported" : "query.invalid";
  return gatewayError(code, { sqlState, message });
}

function refuse(sqlState: string, message: string): Result<never, GatewayError> {
  return err(refusal(sqlState, message));
}
