import type { Bench } from '../bench.ts';
import type { Verdict } from '../finding.ts';
import { longQuestion, longStatement } from '../lab-messages.ts';
import { judgeKilledChat } from '../turn-verdicts.ts';
import { findAnswer, storedMessages, countTurns } from './stored.ts';

const TOKENS_PER_SECOND = 15;
const KILL_AFTER_FRAMES = 6;

/** Kills the chat function in the middle of an answer; the page asks for the same turn until it has it. */
export async function killChat(bench: Bench): Promise<Verdict> {
  const { supervisor } = bench;
  await bench.say(longStatement);
  await bench.pace(TOKENS_PER_SECOND);
  let frames = 0;
  let killedAt: number | undefined;
  let killing: Promise<unknown> | undefined;
  const unwatch = bench.watchWire((event) => {
    if (event.kind !== 'frame') return;
    frames += 1;
    if (frames < KILL_AFTER_FRAMES || killing) return;
    killedAt = bench.now();
    killing = supervisor.kill('chat').then(() => bench.pace(0));
  });
  try {
    await bench.say(longQuestion);
  } finally {
    unwatch();
    await killing;
  }
  const messages = await storedMessages(bench);
  const { attempt } = await bench.api.turn('t_2');
  return judgeKilledChat({
    wasCut: killedAt !== undefined && attempt > 1,
    // The first one was said before.
    turns: countTurns(messages) - 1,
    attempts: attempt,
    isAnswered: findAnswer(messages, 2)?.state === 'done',
    afterMs: bench.now() - (killedAt ?? bench.now()),
  });
}
