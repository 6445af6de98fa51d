import { utf8Length } from '../store/names.ts';
import type { ClientContext } from './client-context.ts';
import { cutList, cutText, quotedValue } from './cut-value.ts';
import { openFileLines } from './open-files.ts';

function listLine(name: string, list: readonly string[]): string {
  const { entries, leftOut } = cutList(list);
  const missing =
    leftOut > 0 ? ` (the newest ${entries.length}; ${leftOut} older ones are left out)` : '';
  return `- ${name}: ${quotedValue(entries)}${missing}`;
}

const valueLine = (name: string, value: string | readonly string[]): string =>
  typeof value === 'string' ? `- ${name}: ${quotedValue(cutText(value))}` : listLine(name, value);

/** What a context tells but the time, a line for each of its names, in the order of the app. */
export function contextLines({
  locale,
  appVersion,
  screen,
  openFiles = [],
  values = {},
}: ClientContext): ReadonlyMap<string, string> {
  const words = Object.entries({ locale, 'app version': appVersion, screen });
  const named = Object.entries(values).map(([name, value]) => [`values.${name}`, value] as const);
  const linesOf = (entries: readonly (readonly [string, string | string[] | undefined])[]) =>
    entries.flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, valueLine(name, value)]],
    );
  return new Map([...linesOf(words), ...openFileLines(openFiles), ...linesOf(named)]);
}

/** UTF-8 bytes of all that a context tells, after cutting. */
export const contextBytes = (context: ClientContext): number =>
  [...contextLines(context).values()].reduce((sum, line) => sum + utf8Length(line) + 1, 0);
