import { createJsonReader } from './json-characters.ts';

/** How a character of a text stands to the search for repetitions. */
type ProseMark =
  /** It is read. */
  | 'read'
  /** It belongs to a ruler, a leader or an indentation. */
  | 'skipped'
  /** It belongs to code, to JSON or to a table, where lines repeat for good reasons: what was read before is no evidence. */
  | 'outside';

/** Of a run of one sign (`---`, `....`, spaces) this many are read, */
const RUN_READ = 3;
/** and again those behind this many: no ruler is so long, but a broken model writes `!!!!` for ever. */
const RULER_CHARACTERS = 200;

/** Signs that open a fence of code. */
const FENCE_CHARACTERS = 3;
const LINE_FEED = 10;
const GRAVE = 96;
const TILDE = 126;
const BAR = 124;
const LESS = 60;
const isBlank = (code: number) => code === 32 || code === 9;
const isWord = (code: number) => /[\p{L}\p{N}]/u.test(String.fromCharCode(code));

/** Tells of each character whether it belongs to a ruler. */
function createRulers() {
  let last = -1;
  let length = 0;
  return (code: number): boolean => {
    length = code === last ? length + 1 : 1;
    last = code;
    return length > RUN_READ && length <= RULER_CHARACTERS && !isWord(code);
  };
}

interface Line {
  kind: 'blank' | 'text' | 'table' | 'fence';
  /** The one sign (` or ~) that it begins with, and how often; -1: none. */
  sign: number;
  signs: number;
  /** Something stands behind the fence: the name of a language. */
  hasName: boolean;
}

const newLine = (): Line => ({ kind: 'blank', sign: -1, signs: 0, hasName: false });

/** Takes the first character of a line that is no blank. */
function begin(line: Line, code: number): void {
  line.kind = code === BAR || code === LESS ? 'table' : 'text';
  if (code !== GRAVE && code !== TILDE) return;
  line.sign = code;
  line.signs = 1;
}

/** Takes a later one. */
function goOn(line: Line, code: number): void {
  if (code === BAR && line.kind === 'text') line.kind = 'table';
  const isSign = code === line.sign;
  if (isSign && !line.hasName) {
    line.signs += 1;
    if (line.signs >= FENCE_CHARACTERS) line.kind = 'fence';
    return;
  }
  if (line.kind !== 'fence') line.sign = -1;
  // Code within a line, ```like this```, is no fence.
  else if (isSign && code === GRAVE) line.kind = 'text';
  else if (!isBlank(code)) line.hasName = true;
}

/**
 * Tells of each UTF-16 unit of a Markdown text, as it streams in, whether it is prose. Fenced code, JSON and rows of
 * tables, of Markdown or HTML, are outside; a fence that is never closed lasts to the end. Keeps the form of one line,
 * not its text.
 */
export function createProseReader(): (code: number) => ProseMark {
  const isRuler = createRulers();
  const isJson = createJsonReader();
  let line = newLine();
  let open: Line | undefined;

  const endLine = () => {
    if (line.kind === 'fence' && open === undefined) open = line;
    else if (
      line.kind === 'fence' &&
      line.sign === open?.sign &&
      line.signs >= open.signs &&
      !line.hasName
    )
      open = undefined;
    line = newLine();
  };

  return (code) => {
    const isSkipped = isRuler(code);
    const isOutside = open !== undefined || isJson(code);
    if (code === LINE_FEED) {
      const wasOutside = line.kind === 'table' || line.kind === 'fence';
      endLine();
      if (isOutside || wasOutside) return 'outside';
    } else if (line.kind !== 'blank') goOn(line, code);
    else if (!isBlank(code)) begin(line, code);
    if (isOutside || line.kind === 'table' || line.kind === 'fence') return 'outside';
    return isSkipped ? 'skipped' : 'read';
  };
}
