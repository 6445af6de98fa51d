/** A part of a text that is searched on its own. */
export interface Window {
  start: number;
  text: string;
}

/** How far around a figure its unit, month or currency may stand. */
const REACH = 48;
/** How much further an edge may move to the next blank, so that no word is cut. */
const EDGE = 80;
const figure = /\d/g;

function edgeBefore(text: string, from: number): number {
  const least = Math.max(0, from - EDGE);
  for (let at = from; at > least; at--) if (text.charCodeAt(at - 1) <= 32) return at;
  return least;
}

function edgeAfter(text: string, from: number): number {
  const most = Math.min(text.length, from + EDGE);
  for (let at = from; at < most; at++) if (text.charCodeAt(at) <= 32) return at;
  return most;
}

/**
 * The parts of a text around its figures: most of a conversation has none, and is not searched for dates and
 * amounts. Words are left whole up to 80 characters. Linear.
 */
export function windowsOfFigures(text: string): Window[] {
  const windows: Window[] = [];
  figure.lastIndex = 0;
  let match = figure.exec(text);
  while (match !== null) {
    const start = edgeBefore(text, Math.max(windows.at(-1)?.start ?? 0, match.index - REACH));
    let end = edgeAfter(text, Math.min(text.length, match.index + REACH));
    // Figures near the end of a window belong to it.
    for (let last = lastFigure(text, match.index, end); last !== -1;) {
      const further = edgeAfter(text, Math.min(text.length, last + REACH));
      if (further <= end) break;
      const next = lastFigure(text, end, further);
      end = further;
      last = next;
    }
    windows.push({ start, text: text.slice(start, end) });
    figure.lastIndex = end;
    match = figure.exec(text);
  }
  return windows;
}

/** Where the last figure of a range stands, or -1. */
function lastFigure(text: string, from: number, to: number): number {
  for (let at = to - 1; at >= from; at--) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) return at;
  }
  return -1;
}
