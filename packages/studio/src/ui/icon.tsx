/** Line drawings of 16 units, coloured by the text around them. They say nothing to a screen reader: the words beside them do. */

const drawings = {
  overview: "M2.5 13.5v-6M6.2 13.5v-11M9.9 13.5v-4M13.5 13.5v-8",
  queries: "M2.5 3.5h11M2.5 8h11M2.5 12.5h6.5",
  workers: "M2.5 2.5h11v4h-11zM2.5 9.5h11v4h-11zM5 4.5h.1M5 11.5h.1",
  console: "M2.5 3h11v10h-11zM5 6.5l2 1.7-2 1.8M8.5 10.5h2.5",
  clusters:
    "M8 2c3.3 0 5.5.9 5.5 2s-2.2 2-5.5 2-5.5-.9-5.5-2 2.2-2 5.5-2zM2.5 4v8c0 1.1 2.2 2 5.5 2s5.5-.9 5.5-2v-8M2.5 8c0 1.1 2.2 2 5.5 2s5.5-.9 5.5-2",
  groups: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z",
  routing:
    "M3.5 13.5v-11M3.5 8h4.5c2.5 0 2.5-4 4.5-4M3.5 8h4.5c2.5 0 2.5 4 4.5 4M11 2.5l1.8 1.5-1.8 1.5M11 10.5l1.8 1.5-1.8 1.5",
  access: "M8 1.8l5.2 2v4c0 3.2-2.2 5.3-5.2 6.4-3-1.1-5.2-3.2-5.2-6.4v-4zM5.8 7.8l1.6 1.6 2.9-3.1",
  scripts: "M5.5 4.5l-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5M9 3l-2 10",
  settings: "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3",
  revisions: "M8 4.5v3.5l2.5 1.5M2.6 8a5.4 5.4 0 1 0 1.7-4M2.5 2.5v2.5h2.5",
  users: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.7c.4-2.6 2.3-4 5-4s4.6 1.4 5 4",
  audit: "M4 2h8v12h-8zM6 5h4M6 8h4M6 11h2.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  up: "M8 13v-10M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  left: "M10 3.5l-4.5 4.5 4.5 4.5",
  right: "M6 3.5l4.5 4.5-4.5 4.5",
  grip: "M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13.3 9.6a5.6 5.6 0 0 1-6.9-6.9 5.6 5.6 0 1 0 6.9 6.9z",
  play: "M4.5 3l8 5-8 5z",
  download: "M8 2.5v8M4.5 7.5l3.5 3.5 3.5-3.5M3 13.5h10",
} as const;

export type IconName = keyof typeof drawings;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "grip" ? 2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={drawings[name]} />
    </svg>
  );
}
