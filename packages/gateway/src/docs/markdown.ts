/** The few forms of Markdown that the generated pages use. */

/** A table; cells may hold any text, a bar or a line break in them does not break it. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const lines = rows.map((row) => lineOf(row.map(cellText)));
  return [lineOf(header), lineOf(header.map(() => "---")), ...lines];
}

/** Text as it stands, in the form of code. */
export function code(text: string): string {
  // A run of backticks in the text needs a longer run around it.
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

/** A link to a heading of the same page, by the rule that renderers share. */
export function linkTo(heading: string): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  return `[${code(heading)}](#${slug})`;
}

/** Paragraphs, tables and headings with one empty line between them. */
export function page(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((block) => block.length > 0);
  return `${filled.map((block) => block.join("\n")).join("\n\n")}\n`;
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function cellText(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}
