/** Signs of JSON, as UTF-16 units. */
const LINE_FEED = 10;
const QUOTE = 34;
const ESCAPE = 92;
const COMMA = 44;
const COLON = 58;
const isOpening = (code: number) => code === 91 || code === 123;
const isClosing = (code: number) => code === 93 || code === 125;
const isBlank = (code: number) => code === 32 || (code >= 9 && code <= 13);

/** No number and no indentation is so long, but a broken model writes zeros or blanks for ever. */
const TOKEN_CHARACTERS = 200;

/**
 * What begins an object or a list, and no remark in brackets; blanks are left out. A list of numbers begins a line: within
 * one, `[1]` is a note.
 */
const BEGINNING = /^(?:\n?(?:\{"|\[["{[])|\n\[[\dtfn-])$/;

/**
 * Tells of each UTF-16 unit of a text, as it streams in, whether it belongs to an object or a list in JSON: from the
 * second sign of its beginning to its last bracket. A number or blanks without end do not.
 */
export function createJsonReader(): (code: number) => boolean {
  /** The last sign that may begin one, behind a line feed where it begins a line. */
  let bracket = '';
  let isLineEmpty = true;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let length = 0;

  /** The end of a string; a line that breaks in it belongs to no JSON. */
  const readText = (code: number) => {
    if (code === LINE_FEED) depth = 0;
    isText = depth > 0 && (isEscaped || code !== QUOTE);
    isEscaped = isText && code === ESCAPE && !isEscaped;
  };

  const readStructure = (code: number) => {
    length += 1;
    if (code === QUOTE) isText = true;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    else if (code !== COMMA && code !== COLON) return;
    length = 0;
  };

  const begins = (code: number): boolean => {
    if (code === LINE_FEED) isLineEmpty = true;
    if (isBlank(code)) return false;
    const sign = String.fromCharCode(code);
    const isBegun = bracket !== '' && BEGINNING.test(bracket + sign);
    bracket = isOpening(code) ? `${isLineEmpty ? '\n' : ''}${sign}` : '';
    isLineEmpty = false;
    return isBegun;
  };

  return (code) => {
    if (depth === 0) {
      if (!begins(code)) return false;
      depth = 1;
      bracket = '';
      length = 0;
    }
    if (isText) readText(code);
    else readStructure(code);
    return length <= TOKEN_CHARACTERS;
  };
}
