import { cutText, quotedValue } from './cut-value.ts';

/** A file that is open in an editor. */
export interface OpenFile {
  path: string;
  /** When it had the focus last, RFC 3339. */
  focusTime: string;
  /** The user is in it. */
  isActive?: boolean | undefined;
  /** Where, and what is selected; told of the active file alone. Both from 1. */
  cursor?: { line: number; character: number } | undefined;
  selectedText?: string | undefined;
}

/** Files that are told; Gemini CLI's number. */
const TOLD_MAX = 10;

/** Files of one context: what editors keep open, and a bound. */
export const OPEN_FILES_MAX = 100;

/** UTF-16 units of a path. */
export const OPEN_FILE_PATH_MAX_CHARACTERS = 1_024;

const activeLine = ({ path, cursor, selectedText }: OpenFile): string => {
  const selected = selectedText && { selectedText: cutText(selectedText) };
  return `- active file: ${quotedValue({ path, ...(cursor && { cursor }), ...selected })}`;
};

/**
 * What is told of open files, by name: the active one, and the others by the time of their focus, the newest first. As
 * Gemini CLI has it, a file is active only where none had the focus after it.
 */
export function openFileLines(files: readonly OpenFile[]): [name: string, line: string][] {
  const newestFirst = files.toSorted(
    (one, other) => Date.parse(other.focusTime) - Date.parse(one.focusTime),
  );
  const told = newestFirst.slice(0, TOLD_MAX);
  const [first] = told;
  const active = first?.isActive ? first : undefined;
  const others = told.filter((file) => file !== active).map(({ path }) => path);
  const leftOut = newestFirst.length - told.length;
  const missing = leftOut > 0 ? ` (${leftOut} that had the focus before are left out)` : '';
  const lines: [string, string][] = [];
  if (active) lines.push(['active file', activeLine(active)]);
  if (others.length > 0)
    lines.push(['open files', `- open files: ${quotedValue(others)}${missing}`]);
  return lines;
}
