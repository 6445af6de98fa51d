import { modelName } from '#shared/models/model-entry.ts';
import type { Content, Part } from '../documents/content.ts';
import { withoutUnsent } from './sendable.ts';

/** Whether a part carries a thought signature. */
const isSigned = ({ thoughtSignature }: Part): boolean => thoughtSignature !== undefined;

export const hasSignature = ({ parts }: Content): boolean => parts.some(isSigned);

function withoutSignature(part: Part): Part {
  if (!isSigned(part)) return part;
  const { thoughtSignature: _, ...rest } = part;
  return rest;
}

/** Contents without thought signatures, part for part; those that have none are the same objects. */
export const withoutSignatures = (contents: readonly Content[]): Content[] =>
  contents.map((content) =>
    hasSignature(content) ? { ...content, parts: content.parts.map(withoutSignature) } : content,
  );

/**
 * Items as `model` may be sent them. A thought signature is readable for the model that made it alone: any other
 * refuses the whole prompt (400 "Corrupted thought signature"), those of earlier turns included. So signatures of
 * others go, and with them thoughts and empty texts that were there for nothing else; what is said and called stays.
 * Whoever made a signature that nobody noted is another. No item says `signedBy` any more.
 */
export function withOwnSignatures<T extends { content: Content; signedBy?: string | undefined }>(
  items: readonly T[],
  model: string,
): Omit<T, 'signedBy'>[] {
  return items.flatMap(({ signedBy, ...item }): Omit<T, 'signedBy'>[] => {
    const isOwn = signedBy !== undefined && modelName(signedBy) === modelName(model);
    if (isOwn || !hasSignature(item.content)) return [item];
    return withoutSignatures([item.content])
      .flatMap(withoutUnsent)
      .map((content) => ({ ...item, content }));
  });
}
