import type { StreamFrame } from '../stream.ts';

/** Two deltas of one part as one; undefined for any other pair. */
function joined(first: StreamFrame | undefined, second: StreamFrame): StreamFrame | undefined {
  if (first?.chunk.type !== 'text-delta' || second.chunk.type !== 'text-delta') return undefined;
  if (first.chunk.id !== second.chunk.id) return undefined;
  const delta = first.chunk.delta + second.chunk.delta;
  return { id: second.id, chunk: { ...second.chunk, delta } };
}

/**
 * The same stream in fewer frames: neighbouring deltas of a part become one, with the id of the last of
 * them, so that a reader goes on after it without a gap. Order, other frames and the joined text stay.
 */
export function collapseFrames(frames: readonly StreamFrame[]): StreamFrame[] {
  const collapsed: StreamFrame[] = [];
  for (const frame of frames) {
    const both = joined(collapsed.at(-1), frame);
    if (both) collapsed[collapsed.length - 1] = both;
    else collapsed.push(frame);
  }
  return collapsed;
}
