/** Lines over time, drawn by uPlot. A screen reader gets a sentence for each line, because a canvas says nothing. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../theme/theme.ts";

export interface Line {
  readonly title: string;
  /** Name of a colour of the theme: `--accent`. */
  readonly colour: string;
  /** Null where nothing is known. */
  readonly values: readonly (number | null)[];
  readonly filled?: boolean;
  readonly dashed?: boolean;
}

export interface ChartProps {
  readonly title: string;
  /** Unix seconds, ascending. */
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
}

const heightPx = 150;

export function Chart({ title, at, lines, text }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(undefined);
  const theme = useTheme();
  const shape = `${theme} ${lines.map((line) => line.title).join(" ")}`;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plot = new uPlot(
      optionsOf({ title, at, lines, text }, element),
      dataOf(at, lines),
      element,
    );
    drawn.current = plot;
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: heightPx }),
    );
    resized.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => plot.redraw();
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      resized.disconnect();
      plot.destroy();
      drawn.current = undefined;
    };
    // Data that moves is set below, without a new chart.
  }, [shape]);
  useEffect(() => {
    drawn.current?.setData(dataOf(at, lines));
  }, [at, lines]);
  return (
    <figure className="chart">
      <div className="u-legend" aria-hidden="true">
        {lines.map((line) => (
          <span key={line.title}>
            <span className="key" style={{ background: `var(${line.colour})` }} />
            {line.title} {lastText(line, text)}
          </span>
        ))}
      </div>
      <div ref={place} aria-hidden="true" />
      <figcaption className="hidden-text">
        {title}. {lines.map((line) => `${line.title}: now ${lastText(line, text)}.`).join(" ")}
      </figcaption>
    </figure>
  );
}

/** The newest value of a step that has ended. */
function lastText({ values }: Line, text: (value: number) => string): string {
  const last = values.slice(0, -1).findLast((value) => value !== null);
  return last === undefined || last === null ? "–" : text(last);
}

function dataOf(at: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => [...values])];
}

function optionsOf({ lines, text }: ChartProps, element: HTMLElement): uPlot.Options {
  // Read with each drawing, so that a theme that the system changes is followed.
  const colour = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const resolved = (name: string) => () => resolvedColour(element, colour(name)());
  const axis: uPlot.Axis = {
    stroke: resolved("--muted"),
    grid: { stroke: resolved("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: element.clientWidth || 320,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, points: { size: 5 } },
    scales: { x: { time: true }, y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, size: 26, space: 64, values: (_plot, splits) => splits.map(hourText) },
      {
        ...axis,
        size: 58,
        space: 30,
        values: (_plot, splits) => splits.map((value) => text(value)),
      },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => ({
        label: line.title,
        stroke: resolved(line.colour),
        width: 1.5,
        points: { show: true, size: 4, filter: aloneIn },
        ...(line.filled === true ? { fill: () => `${resolved(line.colour)()}22` } : {}),
        ...(line.dashed === true ? { dash: [4, 4] } : {}),
      })),
    ],
  };
}

/** A value without one beside it is no line: where the first minute of queries is, for instance. */
function aloneIn(plot: uPlot, seriesIndex: number): number[] {
  const values = plot.data[seriesIndex] ?? [];
  const isKnown = (index: number): boolean => typeof values[index] === "number";
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

const hours = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

function hourText(unixSecs: number): string {
  return hours.format(new Date(unixSecs * 1_000));
}

/** A canvas knows no `light-dark()`: an element is asked what the colour came to. */
function resolvedColour(element: HTMLElement, colour: string): string {
  element.style.color = colour;
  const [red = 0, green = 0, blue = 0] = (
    getComputedStyle(element).color.match(/[\d.]+/g) ?? []
  ).map(Number);
  element.style.color = "";
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}
