import { readableParts, type Content } from '../documents/content.ts';

/** Deeper values are left unread; what the wire takes is far flatter. */
const DEPTH_MAX = 64;

function collect(value: unknown, depth: number, strings: string[]): void {
  if (typeof value === 'string') strings.push(value);
  else if (typeof value === 'number') strings.push(String(value));
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const [key, member] of Object.entries(value)) {
      strings.push(key);
      collect(member, depth + 1, strings);
    }
}

/** Every string, number and key in a value of JSON. */
export function stringsInValue(value: unknown): string[] {
  const strings: string[] = [];
  collect(value, 0, strings);
  return strings;
}

/** Every string, number and key in the text, calls and responses of contents; not the bytes of media. */
export function stringsIn(contents: readonly Content[]): string[] {
  const strings: string[] = [];
  for (const { text, functionCall, functionResponse, fileData } of contents.flatMap(readableParts))
    collect([text, functionCall, functionResponse, fileData], 0, strings);
  return strings;
}

/** Whether a content holds more than text: a picture, a document, a recording. */
export const hasMedia = ({ parts }: Content): boolean =>
  parts.some(({ inlineData, fileData }) => inlineData !== undefined || fileData !== undefined);
