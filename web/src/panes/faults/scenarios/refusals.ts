import { findAnswer, storedMessages, countTurns, type Bench } from '../bench.ts';
import type { Verdict } from '../finding.ts';
import { labMessage } from '../lab-messages.ts';
import { judgeBlocked, judgeRefusals } from '../turn-verdicts.ts';

const REFUSALS = 2;

/** Has the model refuse twice, then says something. */
export async function refuseTwice(bench: Bench, fault: 'quota' | 'unavailable'): Promise<Verdict> {
  const { supervisor } = bench;
  const calls = await bench.countCalls();
  await supervisor.modelFaults({ kind: fault, times: REFUSALS, of: 'chat' });
  await bench.say(labMessage(0).text);
  const messages = await storedMessages(bench);
  return judgeRefusals({
    fault,
    calls: ((await calls()) ?? []).map((call) => call.fault),
    turns: countTurns(messages),
    isAnswered: findAnswer(messages, 1)?.state === 'done',
  });
}

/** Has the model's safety filter end an answer, then says something else. */
export async function blockAnswer(bench: Bench): Promise<Verdict> {
  const { supervisor } = bench;
  await supervisor.modelFaults({ kind: 'safety', times: 1, of: 'chat' });
  // The page shows a blocked answer as one that failed.
  await bench.say(labMessage(0).text).catch(() => undefined);
  await bench.say(labMessage(1).text);
  const messages = await storedMessages(bench);
  const asked = messages.find(({ seq, role }) => seq === 1 && role === 'user');
  const blocked = await bench.api.turn('t_1');
  const context = await bench.api.context();
  return judgeBlocked({
    finishReason: blocked.finishReason,
    isKept: asked !== undefined,
    isInContext: JSON.stringify(context.items).includes(labMessage(0).name),
    isNextAnswered: findAnswer(messages, 2)?.state === 'done',
  });
}
