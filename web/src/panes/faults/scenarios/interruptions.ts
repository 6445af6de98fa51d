import type { WireEvent } from '#web/api/requester.ts';
import { findAnswer, messageText, storedMessages, countTurns, type Bench } from '../bench.ts';
import type { Verdict } from '../finding.ts';
import { longQuestion, longStatement } from '../lab-messages.ts';
import { judgeDrop, judgeKilledChat } from '../turn-verdicts.ts';

type FrameEvent = Extract<WireEvent, { kind: 'frame' }>;

/** Has a long answer come slowly, and looks at its events: `interrupt` acts on one of them. */
async function answerInterrupted(
  bench: Bench,
  tokensPerSecond: number,
  interrupt: (event: FrameEvent) => Promise<unknown> | undefined,
): Promise<void> {
  await bench.say(longStatement);
  await bench.pace(tokensPerSecond);
  let interruption: Promise<unknown> | undefined;
  const unwatch = bench.watchWire((event) => {
    if (event.kind === 'frame') interruption = interrupt(event) ?? interruption;
  });
  try {
    await bench.say(longQuestion);
  } finally {
    unwatch();
    await interruption;
  }
}

const CUT_AFTER_FRAMES = 8;

/** Resets the connection in the middle of an answer; the page goes on with it as an app would. */
export async function dropStream(bench: Bench): Promise<Verdict> {
  const idsOfExchange = new Map<number, number[]>();
  let streamedText = '';
  let isCut = false;
  await answerInterrupted(bench, 30, ({ exchange, frame: { chunk, id } }) => {
    if (chunk.type === 'text-delta') streamedText += chunk.delta;
    if (id === undefined) return undefined;
    const ids = idsOfExchange.get(exchange) ?? [];
    ids.push(id);
    idsOfExchange.set(exchange, ids);
    if (isCut || ids.length < CUT_AFTER_FRAMES) return undefined;
    isCut = true;
    return bench.supervisor.cut();
  });
  const answer = findAnswer(await storedMessages(bench), 2);
  return judgeDrop({
    connections: [...idsOfExchange.values()],
    streamedText,
    storedText: answer ? messageText(answer) : '',
  });
}

const KILL_AFTER_FRAMES = 6;

/** Kills the chat function in the middle of an answer; the page asks for the same turn until it has it. */
export async function killChat(bench: Bench): Promise<Verdict> {
  let frames = 0;
  let killedAt: number | undefined;
  await answerInterrupted(bench, 15, () => {
    frames += 1;
    if (frames !== KILL_AFTER_FRAMES) return undefined;
    killedAt = performance.now();
    return bench.supervisor.kill('chat').then(() => bench.pace(0));
  });
  const messages = await storedMessages(bench);
  const { attempt } = await bench.api.turn('t_2');
  return judgeKilledChat({
    wasCut: killedAt !== undefined && attempt > 1,
    // The first one was said before.
    turns: countTurns(messages) - 1,
    attempts: attempt,
    isAnswered: findAnswer(messages, 2)?.state === 'done',
    afterMs: performance.now() - (killedAt ?? performance.now()),
  });
}
