import type { Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** `chat`: two messages a turn. `tools`: four, of which one is a call and one its output. */
export type ConversationKind = 'chat' | 'tools';

const START = Date.UTC(2026, 0, 1);
const messagesByTurn: Readonly<Record<ConversationKind, number>> = { chat: 2, tools: 4 };
/** Every so many turns an output is long: it is searched in another way. */
const LONG_OUTPUT_EVERY = 5;

/** Stands in the answer of that turn alone. */
export const reservationOf = (seq: number) => `RES-${100_000 + seq}`;

const wish = (seq: number) => (seq % 10 === 0 ? ` Never book room ${seq % 400} before noon.` : '');
export const userText = (seq: number) =>
  `Question ${seq}: where do we stay in Busan on day ${seq % 28}, and what does room ${seq % 400} cost?${wish(seq)}`;
export const answerText = (seq: number) =>
  `In the harbour district; room ${seq % 400} costs ${80 + (seq % 90)} euros a night, breakfast at ${7 + (seq % 3)}:30. The reservation is ${reservationOf(seq)}.`;

function outputText(seq: number): string {
  const lines = seq % LONG_OUTPUT_EVERY === 0 ? 120 : 12;
  return Array.from(
    { length: lines },
    (_, line) => `room ${line + 1}: hotel-${seq % 97}-${line}, ${60 + ((seq + line) % 300)} euros`,
  ).join('\n');
}

function answerContents(seq: number, kind: ConversationKind): Content[] {
  const answer: Content = { role: 'model', parts: [{ text: answerText(seq) }] };
  if (kind === 'chat') return [answer];
  const id = `call-${seq}`;
  const args = { city: 'Busan', day: seq % 28, file: `rooms/list-${seq % 100}.json` };
  const response = { output: outputText(seq), status: 'ok' };
  return [
    { role: 'model', parts: [{ functionCall: { id, name: 'find_rooms', args } }] },
    { role: 'user', parts: [{ functionResponse: { id, name: 'find_rooms', response } }] },
    answer,
  ];
}

const turnOf = (seq: number, kind: ConversationKind): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: '',
  leaseUntil: new Date(START),
  createTime: new Date(START + seq * 60_000),
  tokens: { user: 30, answer: 40 },
  inContext: true,
  user: { role: 'user', parts: [{ text: userText(seq) }] },
  contents: answerContents(seq, kind),
});

/** So many messages of one conversation, the same on each call. */
export const benchTurns = (messages: number, kind: ConversationKind): Turn[] =>
  Array.from({ length: messages / messagesByTurn[kind] }, (_, index) => turnOf(index + 1, kind));

/** Of a conversation of about 400,000 tokens. */
export const LARGE_MESSAGES = 12_000;
