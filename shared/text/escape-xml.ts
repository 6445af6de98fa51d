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
