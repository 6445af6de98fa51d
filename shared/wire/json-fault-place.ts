/* Where a text stops being JSON. The parser of the engine says it for some faults alone, and quotes the text. */

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What may come next; with `OrEnd` also the end of what was just opened. */
type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd';

/** Behind what matches at `at`; undefined: nothing does. */
function behind(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Behind a string that begins at `at`, or where it is at fault. */
function readString(text: string, at: number): { end: number } | { fault: number } {
  let i = at + 1;
  while (i < text.length) {
    if (text[i] === '"') return { end: i + 1 };
    const isEscape = text[i] === '\\';
    const next = isEscape ? behind(ESCAPE, text, i) : i + 1;
    if (next === undefined || text.charCodeAt(i) < 0x20) return { fault: i };
    i = next;
  }
  return { fault: i };
}

/** Behind a string, number or word, or where it is at fault. */
function readScalar(text: string, at: number): { end: number } | { fault: number } {
  if (text[at] === '"') return readString(text, at);
  const end = behind(SCALAR, text, at);
  return end === undefined ? { fault: at } : { end };
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Index of the first character that cannot stand there, UTF-16 units; the length: something is missing at the end. */
function faultIndex(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let i = 0;
  for (;;) {
    i = behind(SPACE, text, i) ?? i;
    const character = text[i];
    const container = open.at(-1);
    if (character === undefined) return i;
    const isEnd = container !== undefined && CLOSING[container] === character;
    if (expected.endsWith('OrEnd') && isEnd) {
      open.pop();
      expected = 'commaOrEnd';
      i++;
    } else if (expected === 'colon' || expected === 'commaOrEnd') {
      const isComma: boolean = expected === 'commaOrEnd';
      if (character !== (isComma ? ',' : ':') || container === undefined) return i;
      expected = isComma && container === '{' ? 'key' : 'value';
      i++;
    } else if (expected.startsWith('value') && character in CLOSING) {
      open.push(character);
      expected = character === '{' ? 'keyOrEnd' : 'valueOrEnd';
      i++;
    } else {
      const isKey = expected.startsWith('key');
      if (isKey && character !== '"') return i;
      const read = readScalar(text, i);
      if ('fault' in read) return read.fault;
      expected = isKey ? 'colon' : 'commaOrEnd';
      i = read.end;
    }
  }
}

/** Line and column, both from 1, at which a text that is no JSON stops being it. */
export function jsonFaultPlace(text: string): { line: number; column: number } {
  const before = text.slice(0, faultIndex(text));
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}
