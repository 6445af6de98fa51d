import type { Content, Part } from '../documents/content.ts';

/** Calls of Google's own tools, and what they say of their results. */
const isServerCall = (part: Part): boolean =>
  part['toolCall'] !== undefined || part['toolResponse'] !== undefined;

/**
 * Contents of a turn that has ended, without the calls of Google's own tools: they go back to the model that made them
 * while it answers, and no other model, and none without these tools, takes them. Contents that have none are the same
 * objects; those with nothing else go.
 */
export const withoutServerCalls = (contents: readonly Content[]): Content[] =>
  contents.flatMap((content) => {
    if (!content.parts.some(isServerCall)) return [content];
    const parts = content.parts.filter((part) => !isServerCall(part));
    return parts.length === 0 ? [] : [{ ...content, parts }];
  });
