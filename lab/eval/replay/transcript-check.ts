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

/**
 * Compares what a client sent and received with the transcript that the service keeps: every message
 * once, with its text, behind the one before, and nothing else.
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
  let before = -1;
  for (const message of expected) {
    const position = positions.get(message.id);
    const found = position === undefined ? undefined : stored[position];
    if (position === undefined || found === undefined) {
      problems.push({ kind: 'missing', message });
      continue;
    }
    if (found.text !== message.text || found.role !== message.role)
      problems.push({ kind: 'altered', message, found: found.text });
    if (position < before) problems.push({ kind: 'out-of-order', message });
    before = position;
  }
  const known = new Set(expected.map(({ id }) => id));
  for (const message of stored)
    if (!known.has(message.id)) problems.push({ kind: 'unexpected', message });
  return problems;
}
