/** Where a template ends: at the quote that began it, or with the text. */
interface Scan {
  code: string;
  end: number;
}

/** From the first character of an expression to the brace that ends it; strings become `""`. */
function scanCode(text: string, start: number): Scan {
  let code = '';
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '}' && depth === 0) return { code, end: at + 1 };
    if (character === '"') {
      const inner = scanTemplate(text, at + 1, '"');
      code += `"" ${inner.code} `;
      at = inner.end;
      continue;
    }
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    code += character;
    at += 1;
  }
  return { code, end: at };
}

/** From the first character of a template to `until`: the code of the expressions in it. */
function scanTemplate(text: string, start: number, until: string | undefined): Scan {
  let code = '';
  let at = start;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === until) return { code, end: at + 1 };
    if (character === '\\' && until !== undefined) {
      at += 2;
      continue;
    }
    const opens = (character === '$' || character === '%') && text.charAt(at + 1) === '{';
    // `$${` is a dollar and a brace.
    if (opens && text.charAt(at - 1) !== character) {
      const inner = scanCode(text, at + 2);
      code += `${inner.code} ; `;
      at = inner.end;
      continue;
    }
    at += 1;
  }
  return { code, end: at };
}

/** The code of all expressions in a value and in what it holds, without the strings in them. */
export function codeIn(value: unknown): string {
  if (typeof value === 'string') return scanTemplate(value, 0, undefined).code;
  if (Array.isArray(value)) return value.map(codeIn).join(' ; ');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, inner]) => `${codeIn(name)} ; ${codeIn(inner)}`)
      .join(' ; ');
  return '';
}
