import type { RequestContent } from '../server/request.ts';

/** Ends of sentences: CJK marks end at once, Latin ones only before white space (3.14, a.ts). */
const sentenceEnd = /(?<=[。！？])|(?<=[.!?]["'”’)\]]?)\s+/u;

/** The sentences of a text, in order, trimmed, marks of lists and quotes taken off; empty ones are left out. */
export function splitSentences(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.replace(/^[\s>]*(?:[-*•]\s+)?/u, '').split(sentenceEnd))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

const tag = /<\/?[a-zA-Z_][\w.-]*(?:\s[^<>]*)?>/g;
const entities: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&#39;', "'"],
  ['&amp;', '&'],
];

/** The text of snapshot XML: tags become line breaks, entities become characters. */
export function unwrapSnapshot(xml: string): string {
  return entities.reduce(
    (text, [entity, character]) => text.replaceAll(entity, character),
    xml.replace(tag, '\n'),
  );
}

/** Text for XML element content. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const longStringLength = 120;

/**
 * JSON as readable lines: the short scalars of one object stand together on a line as
 * `"seat": "12A", "row": 4`, longer strings are lines of their own.
 */
function jsonLines(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object') return [JSON.stringify(value)];
  if (Array.isArray(value)) return value.flatMap((item) => jsonLines(item));
  const short: string[] = [];
  const nested: string[] = [];
  for (const [key, item] of Object.entries(value)) {
    const isLong =
      typeof item === 'string' && (item.length > longStringLength || item.includes('\n'));
    if (isLong || (typeof item === 'object' && item !== null)) nested.push(...jsonLines(item));
    else short.push(`${JSON.stringify(key)}: ${JSON.stringify(item)}`);
  }
  return short.length === 0 ? nested : [short.join(', '), ...nested];
}

/** All that a content says, as lines: text, snapshot text unwrapped, calls and function responses. */
export function readableText(content: RequestContent): string {
  const lines = (content.parts ?? []).flatMap((part) => {
    if (part.thought === true) return [];
    if (part.text !== undefined) {
      return [part.text.includes('<state_snapshot') ? unwrapSnapshot(part.text) : part.text];
    }
    if (part.functionCall !== undefined) return jsonLines(part.functionCall.args);
    if (part.functionResponse !== undefined) return jsonLines(part.functionResponse.response);
    return [];
  });
  return lines.join('\n');
}

/** The first `count` code points of a text: never half a surrogate pair. */
export function firstCodePoints(text: string, count: number): string {
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}
