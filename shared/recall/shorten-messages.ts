import { cutHead } from '#shared/text/cut.ts';
import type { Passage } from './segment.ts';

/** Which message a passage belongs to. */
const messageOf = ({ seq, role }: Passage) => `${seq}/${role}`;

/** The largest length at which messages of these lengths, the longer ones cut to it, take at most `most` together. */
function commonLength(lengths: readonly number[], most: number): number {
  const ascending = lengths.toSorted((a, b) => a - b);
  let left = most;
  for (const [i, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}

/**
 * The passages with at most `characters` UTF-16 units together: the longest messages lose their ends, all to the same
 * length, short ones nothing.
 */
export function shortened(passages: readonly Passage[], characters: number): Passage[] {
  const lengths = new Map<string, number>();
  for (const passage of passages) {
    const message = messageOf(passage);
    lengths.set(message, (lengths.get(message) ?? 0) + passage.text.length);
  }
  const most = commonLength([...lengths.values()], characters);
  const used = new Map<string, number>();
  return passages.flatMap((passage) => {
    const message = messageOf(passage);
    const before = used.get(message) ?? 0;
    used.set(message, before + passage.text.length);
    const text = cutHead(passage.text, most - before);
    return text === '' ? [] : [{ ...passage, text }];
  });
}
