const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&amp;': '&',
};
const entity = /&(?:lt|gt|quot|apos|#39|amp);/g;

/** Text made safe between XML tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * The text that a model meant between two tags. Models escape all of a section or nothing of it, so
 * text with a bare `<` or `&` is taken as it stands, and any other has its entities decoded once. A
 * heuristic: wrong for unescaped text that speaks of `&lt;` and holds no bare `<` or `&`.
 */
export function decodeXml(text: string): string {
  const withoutEntities = text.replaceAll(entity, '');
  if (withoutEntities.includes('<') || withoutEntities.includes('&')) return text;
  return text.replaceAll(entity, (found) => entities[found] ?? found);
}

/** A tag with attributes is short; a `>` farther away belongs to something else. */
const TAG_CHARACTERS = 500;

/** Where the content of `<name …>` begins if that tag opens at `position`, else undefined. */
export function openTagAt(text: string, position: number, name: string): number | undefined {
  if (!text.startsWith(name, position + 1)) return undefined;
  const after = position + 1 + name.length;
  const next = text[after];
  if (next === '>') return after + 1;
  if (next === undefined || !/[\s/]/.test(next)) return undefined;
  const end = text.slice(after, after + TAG_CHARACTERS).indexOf('>');
  return end === -1 ? undefined : after + end + 1;
}

/** Where text goes on after `</name>` if that tag stands at `position`, else undefined. */
export function closeTagAt(text: string, position: number, name: string): number | undefined {
  if (!text.startsWith(`/${name}`, position + 1)) return undefined;
  let end = position + 2 + name.length;
  while (/\s/.test(text[end] ?? '')) end++;
  return text[end] === '>' ? end + 1 : undefined;
}

/** Position after blanks and comments; a comment without end goes on to the end of the text. */
export function skipBlanks(text: string, from: number): number {
  let position = from;
  for (;;) {
    while (/\s/.test(text[position] ?? '')) position++;
    if (!text.startsWith('<!--', position)) return position;
    const end = text.indexOf('-->', position + 4);
    if (end === -1) return text.length;
    position = end + 3;
  }
}
