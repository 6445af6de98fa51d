import type { Content, Part } from '../documents/content.ts';
import { repairContents, type RepairedContents } from './repair-contents.ts';

const isEmptyText = (part: Part) =>
  part.text === '' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

/** Thoughts are billed once and not sent again, unless a signature makes them part of the protocol. */
const isBareThought = (part: Part) => part.thought === true && part.thoughtSignature === undefined;

const isSent = (part: Part): boolean => !isEmptyText(part) && !isBareThought(part);

/** A content without empty texts and bare thoughts; nothing where it has no other parts. */
export function withoutUnsent(content: Content): Content[] {
  const parts = content.parts.filter(isSent);
  if (parts.length === 0) return [];
  return [parts.length === content.parts.length ? content : { ...content, parts }];
}

/**
 * One turn's contents as a model accepts them, and what had to be mended for that: no empty text and no bare
 * thought, as every answer may have them, and nothing of what `repairContents` mends. Contents left empty go; those
 * that stay as they are, are the same objects.
 */
export const sendableTurn = (contents: readonly Content[]): RepairedContents =>
  repairContents(
    contents.every(({ parts }) => parts.length > 0 && parts.every(isSent))
      ? contents
      : contents.flatMap(withoutUnsent),
  );
