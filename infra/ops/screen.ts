import { singleLineJson } from '#shared/lib/json-text.ts';
import { terminalText } from '../terminal-text.ts';
import { aligned } from '../text-table.ts';

/** Without a terminal, progress is told this often. */
const PROGRESS_MS = 5_000;

/** What is printed may hold text of users and of the model: nothing of it is obeyed by a terminal. */
export interface Screen {
  /** Whether results are for programs. */
  readonly isJson: boolean;
  setJson(isJson: boolean): void;
  /** The result for people; nothing where it is for programs. */
  print(text: string): void;
  /** The result for programs, one line; nothing where it is for people. */
  json(value: unknown): void;
  /** Beside the result, on stderr. */
  note(text: string): void;
  /** How far it has come, on stderr: in place on a terminal, else every few seconds. */
  progress(text: string): void;
}

export function createScreen(streams: {
  out: (text: string) => void;
  err: (text: string) => void;
  isTerminal: boolean;
  nowMs: () => number;
}): Screen {
  const { out, err, isTerminal, nowMs } = streams;
  let isJson = false;
  let isDrawn = false;
  let toldAtMs = nowMs();
  const clear = () => {
    if (isDrawn) err('\r\u001B[2K');
    isDrawn = false;
  };
  return {
    get isJson() {
      return isJson;
    },
    setJson: (wanted) => (isJson = wanted),
    print: (text) => {
      clear();
      if (!isJson) out(`${terminalText(text)}\n`);
    },
    json: (value) => {
      clear();
      if (isJson) out(`${terminalText(singleLineJson(value))}\n`);
    },
    note: (text) => {
      clear();
      err(`${terminalText(text)}\n`);
    },
    progress: (text) => {
      if (isTerminal) {
        err(`\r\u001B[2K${terminalText(text)}`);
        isDrawn = true;
      } else if (nowMs() - toldAtMs >= PROGRESS_MS) {
        err(`${terminalText(text)}\n`);
        toldAtMs = nowMs();
      }
    },
  };
}

/** Columns under their titles; text to the left, figures to the right. */
export function toTable<Row>(
  columns: readonly { title: string; text: (row: Row) => string; isFigure?: boolean }[],
  rows: readonly Row[],
): string {
  const left = columns.flatMap(({ isFigure }, index) => (isFigure === true ? [] : [index]));
  const titles = columns.map(({ title }) => title);
  return aligned([titles, ...rows.map((row) => columns.map(({ text }) => text(row)))], left);
}

export const figure = (value: number | undefined): string =>
  value === undefined ? '-' : value.toLocaleString('en');

/** `1 turn`, `2 turns`. */
export const counted = (count: number, noun: string): string =>
  `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Dollars of millionths, with as many digits as tell something. */
export const dollars = (micros: number | undefined): string =>
  micros === undefined ? '-' : `$${(micros / 1_000_000).toFixed(micros < 1_000_000 ? 6 : 2)}`;

export const time = (value: Date | undefined): string =>
  value === undefined ? '-' : value.toISOString().replace(/\.\d{3}Z$/u, 'Z');
