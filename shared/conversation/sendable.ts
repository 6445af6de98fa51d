import type { Content, Part } from './content.ts';

const isEmptyText = (part: Part) =>
  part.text === '' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

/** Thoughts are billed once and not sent again, unless a signature makes them part of the protocol. */
const isBareThought = (part: Part) => part.thought === true && part.thoughtSignature === undefined;

/** How many calls (or responses) of each name stand in the contents. */
function countByName(contents: readonly Content[], kind: 'functionCall' | 'functionResponse') {
  const counts = new Map<string, number>();
  for (const { parts } of contents)
    for (const part of parts) {
      const name = part[kind]?.name;
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  return counts;
}

/** Keeps of each name as many parts of `kind` as there are partners. */
function keepPaired(contents: readonly Content[], kind: 'functionCall' | 'functionResponse') {
  let partners: Map<string, number> | undefined;
  return (part: Part) => {
    const name = part[kind]?.name;
    if (name === undefined) return true;
    partners ??= countByName(
      contents,
      kind === 'functionCall' ? 'functionResponse' : 'functionCall',
    );
    const left = partners.get(name) ?? 0;
    partners.set(name, left - 1);
    return left > 0;
  };
}

/**
 * One turn's contents as a model accepts them: no empty part, no bare thought, no call without its
 * response and no response without its call (a broken pair is a 400 for ever). Contents left empty go; those
 * that stay as they are, are the same objects.
 */
export function sendableContents(contents: readonly Content[]): Content[] {
  const call = keepPaired(contents, 'functionCall');
  const response = keepPaired(contents, 'functionResponse');
  const isSent = (part: Part): boolean =>
    !isEmptyText(part) && !isBareThought(part) && call(part) && response(part);
  const sendable: Content[] = [];
  for (const content of contents) {
    const parts = content.parts.filter(isSent);
    if (parts.length === 0) continue;
    sendable.push(parts.length === content.parts.length ? content : { ...content, parts });
  }
  return sendable;
}
