export function typesPage(): string {
  return "";
}
