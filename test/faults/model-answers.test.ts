import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { startFaultStack, textsOf } from '../support/processes/fault-stack.ts';

const QUESTION = 'The gate code is 7731. Which floor has the meeting room with the long table?';
/** Long enough for several events. */
const ANSWER =
  'With the gate code 7731 you come to the lift; the room with the long table is on the fourth floor, behind the kitchen, and the door is open until six in the evening.';

const stack = await startFaultStack({ modelWaitMs: 1_500 });
// The first call loads the SDK.
await stack.send(randomUUID(), 'Good morning.');
stack.answerWith(QUESTION, ANSWER);
beforeEach(() => {
  stack.fakeGemini.clearFaults();
  stack.fakeGemini.clearJournal();
});
afterAll(() => stack.stop());

interface Failure {
  name: string;
  fault: Fault;
  http: number;
  reason: string;
  /** Model calls of the one send. */
  calls: number;
}

const failures: Failure[] = [
  {
    name: 'silence between two events',
    fault: { kind: 'stall', delayMs: 60_000 },
    http: 504,
    reason: 'MODEL_TIMEOUT',
    calls: 1,
  },
  {
    name: 'a candidate without parts',
    fault: { kind: 'emptyCandidates', shape: 'noParts' },
    http: 503,
    reason: 'MODEL_EMPTY_ANSWER',
    calls: 1,
  },
];

test.each(failures)(
  'a model failure $name is reported as $reason, and the message is answered in its turn when resent',
  async ({ fault, http, reason, calls }) => {
    const [id, messageId] = [randomUUID(), randomUUID()];
    stack.fakeGemini.queueFaults(fault);

    const sent = await stack.send(id, QUESTION, messageId);
    const called = stack.fakeGemini.journal().length;
    const failed = await stack.transcript(id);
    await stack.send(id, 'Good morning.');
    const nextPrompt = stack.lastPromptTexts();
    const again = await stack.sendUntilAnswered(id, QUESTION, messageId);

    const messages = await stack.transcript(id);
    expect(sent).toMatchObject({ http, reason });
    expect(called).toBe(calls);
    expect(textsOf(failed, 'user')).toEqual([QUESTION]);
    expect(failed[0]).toMatchObject({ state: 'failed', inContext: false });
    expect(nextPrompt).toEqual(['Good morning.']);
    expect(again.http).toBe(200);
    expect(textsOf(messages, 'user')).toEqual([QUESTION, 'Good morning.']);
    expect(textsOf(messages, 'model')[0]).toBe(again.text);
  },
);

test('an answer cut at MAX_TOKENS is reported as length and used in the next prompt', async () => {
  const id = randomUUID();
  stack.fakeGemini.queueFaults({ kind: 'maxTokens' });

  const sent = await stack.send(id, QUESTION);
  await stack.send(id, 'Go on.');

  const [, answer] = await stack.transcript(id);
  expect(answer).toMatchObject({ finishReason: 'length', state: 'done', inContext: true });
  expect(stack.lastPromptTexts()).toEqual([QUESTION, sent.text, 'Go on.']);
});

test.each<{ name: string; fault: Fault }>([
  { name: 'SAFETY half-way', fault: { kind: 'safety', afterEvents: 1 } },
  { name: 'a blocked prompt', fault: { kind: 'blockedPrompt', reason: 'SAFETY' } },
])(
  'an answer refused for $name is reported as content-filter and stays out of later turns',
  async ({ fault }) => {
    const id = randomUUID();
    await stack.send(id, 'Good morning.');
    stack.fakeGemini.queueFaults(fault);

    const sent = await stack.send(id, QUESTION);
    const next = await stack.send(id, 'Good evening.');

    const refused = (await stack.transcript(id)).find(({ seq }) => seq === 2);
    expect(sent.http).toBe(200);
    expect(refused).toMatchObject({ inContext: false });
    expect(next.http).toBe(200);
    expect(stack.lastPromptTexts().join('\n')).not.toContain('7731');
    expect(stack.lastPromptTexts()[0]).toBe('Good morning.');
  },
);

test('an answer with a malformed function call keeps its text and no half call', async () => {
  const id = randomUUID();
  stack.fakeGemini.queueFaults({ kind: 'malformedFunctionCall', afterEvents: 1 });

  const sent = await stack.send(id, QUESTION);
  await stack.send(id, 'Go on.');

  expect(sent.http).toBe(200);
  expect(stack.lastPromptTexts()).toEqual([QUESTION, sent.text, 'Go on.']);
  expect(JSON.stringify(stack.lastPrompt())).not.toContain('functionCall');
});
