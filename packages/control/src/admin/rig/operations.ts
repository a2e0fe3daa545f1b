/** The operations of an OpenAPI document, for tests that hold the API against it. */
export interface TestOperation {
  readonly method: string;
  /** As in the document: `/admin/clusters/{name}`. */
  readonly template: string;
  readonly role: string | undefined;
  readonly statuses: readonly number[];
  readonly hasBody: boolean;
  readonly is: (method: string, path: string) => boolean;
  /** The path with each place filled. */
  readonly path: (fill: (place: string) => string) => string;
}

interface Page {
  readonly "x-role"?: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: unknown;
}

/** Literal paths before those with places, as the router takes them. */
export function operationsIn(document: unknown): readonly TestOperation[] {
  const { paths } = document as { paths: Readonly<Record<string, Readonly<Record<string, Page>>>> };
  const all = Object.entries(paths).flatMap(([template, pages]) =>
    Object.entries(pages).map(([method, page]) => operationOf(template, method, page)),
  );
  return all.toSorted((a, b) => places(a.template) - places(b.template));
}

function operationOf(template: string, method: string, page: Page): TestOperation {
  const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  const upper = method.toUpperCase();
  return {
    method: upper,
    template,
    role: page["x-role"],
    statuses: Object.keys(page.responses).map(Number),
    hasBody: page.requestBody !== undefined,
    is: (asked, path) =>
      (asked === "HEAD" ? "GET" : asked) === upper && pattern.test(path.split("?")[0] ?? ""),
    path: (fill) => template.replaceAll(/\{(\w+)\}/g, (_, place: string) => fill(place)),
  };
}

function places(template: string): number {
  return template.split("{").length;
}
