/** Copies a text, where the browser allows it: on loopback and over TLS. */
import { useState } from "react";
import { IconButton } from "./button.tsx";

const saidMs = 1_500;

export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false);
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    await clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), saidMs);
  };
  return (
    <IconButton
      small
      icon="copy"
      name={copied ? "Copied" : `Copy ${what}`}
      onClick={() => void copy().catch(() => setCopied(false))}
    />
  );
}
