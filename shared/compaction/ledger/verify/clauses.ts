/** A clause of a statement with the sign that ends it. */
interface Clause {
  start: number;
  end: number;
}

/** Notes string facts by semicolons; sentences end. A point between figures or letters ends nothing. */
const clauseEnd = /[;；。！？]\s*|[.!?]["'”’)]{0,2}\s+(?=\p{Lu}|["“(])|\s[–—]\s/gu;

/** Where the clauses of a statement stand, in order, without a gap. */
export function splitClauses(text: string): Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  for (const match of text.matchAll(clauseEnd)) {
    const end = match.index + match[0].length;
    clauses.push({ start, end });
    start = end;
  }
  if (start < text.length) clauses.push({ start, end: text.length });
  return clauses;
}

/** What stands instead of a value that nobody said. */
export const UNCONFIRMED_MARK = '[unconfirmed]';

/** A clause that says nothing without its value is cut with it. */
const CLAUSE_WORDS = 3;

/** Whether a text with marks in it says something besides them. */
function saysSomething(marked: string): boolean {
  const text = marked.replaceAll(UNCONFIRMED_MARK, ' ');
  return (
    (text.match(/[\p{L}\p{N}]+/gu) ?? []).length >= CLAUSE_WORDS ||
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{4}/u.test(text)
  );
}

/**
 * A statement without these stretches of it. Where a clause still says something, a mark stands in the place of the
 * value; else the clause goes. Undefined where nothing is left.
 */
export function withoutValues(text: string, values: readonly Clause[]): string | undefined {
  const kept = splitClauses(text).flatMap((clause) => {
    const inside = values.filter(({ start, end }) => start < clause.end && end > clause.start);
    if (inside.length === 0) return [text.slice(clause.start, clause.end)];
    let marked = '';
    let at = clause.start;
    for (const { start, end } of inside) {
      marked += text.slice(at, Math.max(at, start)) + UNCONFIRMED_MARK;
      at = Math.max(at, end);
    }
    marked += text.slice(at, clause.end);
    return saysSomething(marked) ? [marked] : [];
  });
  const rest = kept.join('').replace(/[;；,，\s]+$/u, '');
  return saysSomething(rest) ? rest : undefined;
}
