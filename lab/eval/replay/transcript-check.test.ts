import { expect, test } from 'vitest';
import { checkTranscript, type TranscriptMessage } from './transcript-check.ts';

const user = (n: number): TranscriptMessage => ({ id: `u${n}`, role: 'user', text: `say ${n}` });
const model = (n: number): TranscriptMessage => ({ id: `m${n}`, role: 'model', text: `do ${n}` });
const conversation = [user(1), model(1), user(2), model(2)];

test.each([
  ['every message once, in order', conversation, []],
  ['nothing', [], ['missing u1', 'missing m1', 'missing u2', 'missing m2']],
  ['one message less', [user(1), user(2), model(2)], ['missing m1']],
  ['the first message last', [model(1), user(2), model(2), user(1)], ['out-of-order m1']],
  ['another text', conversation.with(3, { ...model(2), text: 'no' }), ['altered m2']],
  ['another role', conversation.with(1, { ...model(1), role: 'user' }), ['altered m1']],
  ['a message that nobody sent', [...conversation, user(3)], ['unexpected u3']],
  ['a message twice', [...conversation, model(1)], ['twice m1']],
])('a transcript with %s has these problems', (_, stored, problems) => {
  const found = checkTranscript(conversation, stored);

  expect(found.map(({ kind, message }) => `${kind} ${message.id}`)).toEqual(problems);
});
