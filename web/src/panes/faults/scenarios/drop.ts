import type { Bench } from '../bench.ts';
import type { Verdict } from '../finding.ts';
import { longQuestion, longStatement } from '../lab-messages.ts';
import { judgeDrop } from '../turn-verdicts.ts';
import { findAnswer, storedMessages, messageText } from './stored.ts';

/** Slow enough to be cut in the middle. */
const TOKENS_PER_SECOND = 30;
const CUT_AFTER_FRAMES = 8;

/** Resets the connection in the middle of an answer; the page goes on with it as an app would. */
export async function dropStream(bench: Bench): Promise<Verdict> {
  const { supervisor } = bench;
  await bench.say(longStatement);
  const idsOfExchange = new Map<number, number[]>();
  let streamedText = '';
  let cut: Promise<unknown> | undefined;
  const unwatch = bench.watchWire((event) => {
    if (event.kind !== 'frame') return;
    const { chunk, id } = event.frame;
    if (chunk.type === 'text-delta') streamedText += chunk.delta;
    if (id === undefined) return;
    const ids = idsOfExchange.get(event.exchange) ?? [];
    ids.push(id);
    idsOfExchange.set(event.exchange, ids);
    if (ids.length >= CUT_AFTER_FRAMES) cut ??= supervisor.cut();
  });
  try {
    await bench.pace(TOKENS_PER_SECOND);
    await bench.say(longQuestion);
  } finally {
    unwatch();
    await cut;
  }
  const answer = findAnswer(await storedMessages(bench), 2);
  return judgeDrop({
    connections: [...idsOfExchange.values()],
    streamedText,
    storedText: answer ? messageText(answer) : '',
  });
}
