/** Light, dark, or as the system has it. Kept in this browser. */
import { useSyncExternalStore } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "studio.theme";
const listeners = new Set<() => void>();

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, themeNow);
}

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // A browser that keeps nothing shows it until the page is left.
  }
  apply(theme);
  for (const listener of listeners) listener();
}

/** Before the first picture. */
export function applyTheme(): void {
  apply(themeNow());
}

function themeNow(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return themes.find((each) => each === kept) ?? "system";
  } catch {
    return "system";
  }
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
