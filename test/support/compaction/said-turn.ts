import type { Turn } from '#shared/conversation/documents/turn.ts';

/** A finished turn in which the user says `text`. */
export const foldedTurn = (seq: number, text: string): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: 'builder',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  tokens: { user: 1, answer: 1 },
  inContext: true,
  user: { role: 'user', parts: [{ text }] },
  contents: [{ role: 'model', parts: [{ text: 'Noted.' }] }],
});

/** What is said in one turn; absent speakers are silent. */
interface Said {
  user?: string;
  model?: string;
  /** What a tool returns. */
  tool?: string;
  at?: Date;
}

/** A finished turn in which these texts are said. */
export function saidTurn(seq: number, { user = '', model, tool, at = new Date(0) }: Said): Turn {
  const called = [
    { role: 'model' as const, parts: [{ functionCall: { name: 'look_up', args: {} } }] },
    {
      role: 'user' as const,
      parts: [{ functionResponse: { name: 'look_up', response: { output: tool } } }],
    },
  ];
  const answer = { role: 'model' as const, parts: [{ text: model }] };
  return {
    ...foldedTurn(seq, user),
    createTime: at,
    contents: [...(tool === undefined ? [] : called), ...(model === undefined ? [] : [answer])],
  };
}
