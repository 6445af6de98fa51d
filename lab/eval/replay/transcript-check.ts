/** A message as the transcript shows it, or as the client remembers it. */
export interface TranscriptMessage {
  id: string;
  role: 'user' | 'model';
  text: string;
}

export interface TranscriptProblem {
  kind: 'missing' | 'altered' | 'out-of-order' | 'unexpected' | 'twice';
  message: TranscriptMessage;
  /** For altered: what the transcript has. */
  found?: string;
}

/** Indexes of one longest rising run of `positions` (patience sorting): the rest is out of order. */
function risingRun(positions: readonly number[]): Set<number> {
  const tails: number[] = [];
  const previous: number[] = [];
  for (const [index, position] of positions.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[tails[middle] ?? -1] ?? -1) < position) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (tails[low - 1] ?? -1) : -1);
    tails[low] = index;
  }
  const run = new Set<number>();
  for (let index = tails.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) run.add(index);
  return run;
}

/**
 * Compares what a client sent and received with the transcript that the service keeps: every message
 * once, with its text, in order, and nothing else.
 */
export function checkTranscript(
  expected: readonly TranscriptMessage[],
  stored: readonly TranscriptMessage[],
): TranscriptProblem[] {
  const problems: TranscriptProblem[] = [];
  const positions = new Map<string, number>();
  for (const [index, message] of stored.entries()) {
    if (positions.has(message.id)) problems.push({ kind: 'twice', message });
    else positions.set(message.id, index);
  }
  const present = expected.filter((message) => positions.has(message.id));
  const inOrder = risingRun(present.map((message) => positions.get(message.id) ?? -1));
  for (const [index, message] of present.entries()) {
    const found = stored[positions.get(message.id) ?? -1];
    if (found && (found.text !== message.text || found.role !== message.role))
      problems.push({ kind: 'altered', message, found: found.text });
    if (!inOrder.has(index)) problems.push({ kind: 'out-of-order', message });
  }
  for (const message of expected)
    if (!positions.has(message.id)) problems.push({ kind: 'missing', message });
  const known = new Set(expected.map((message) => message.id));
  for (const message of stored)
    if (!known.has(message.id)) problems.push({ kind: 'unexpected', message });
  return problems;
}
