import { neutraliseTags } from '../compaction/neutralise-tags.ts';
import { utf8Length } from '../store/names.ts';
import type { ClientContext } from './client-context.ts';
import { cutList, cutText } from './cut-value.ts';

/** Line ends that JSON does not escape. */
const lineEnds = /[\u0085\u2028\u2029]/g;

/**
 * A value in one line and in quotation marks, so that no text of it can pose as a line beside it; and without tags of
 * the snapshot's format.
 */
const quoted = (value: string | readonly string[]): string =>
  neutraliseTags(
    JSON.stringify(value).replaceAll(
      lineEnds,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

function listLine(name: string, list: readonly string[]): string {
  const { entries, leftOut } = cutList(list);
  const missing =
    leftOut > 0 ? ` (the newest ${entries.length}; ${leftOut} older ones are left out)` : '';
  return `- ${name}: ${quoted(entries)}${missing}`;
}

const valueLine = (name: string, value: string | readonly string[]): string =>
  typeof value === 'string' ? `- ${name}: ${quoted(cutText(value))}` : listLine(name, value);

/** What a context tells but the time, a line for each of its names, in the order of the app. */
export function contextLines({
  locale,
  appVersion,
  screen,
  values = {},
}: ClientContext): ReadonlyMap<string, string> {
  const words = Object.entries({ locale, 'app version': appVersion, screen });
  const named = Object.entries(values).map(([name, value]) => [`values.${name}`, value] as const);
  const lines = new Map<string, string>();
  for (const [name, value] of [...words, ...named])
    if (value !== undefined) lines.set(name, valueLine(name, value));
  return lines;
}

/** UTF-8 bytes of all that a context tells, after cutting. */
export const contextBytes = (context: ClientContext): number =>
  [...contextLines(context).values()].reduce((sum, line) => sum + utf8Length(line) + 1, 0);
