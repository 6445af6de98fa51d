import { storedMessages, countTurns, type Bench } from '../bench.ts';
import type { Verdict } from '../finding.ts';
import { labMessage } from '../lab-messages.ts';
import { judgeResend } from '../turn-verdicts.ts';

const SENDS = 5;

/** Sends one message five times at once. */
export async function resend(bench: Bench): Promise<Verdict> {
  const { api, signal } = bench;
  const messageId = crypto.randomUUID();
  const { text } = labMessage(0);
  const calls = await bench.countCalls();
  const sendOnce = async () => {
    const { turnId, frames } = await api.ask(
      { kind: 'send', messageId, text },
      { locale: 'en', signal },
    );
    let answer = '';
    for await (const { chunk } of frames ?? [])
      if (chunk.type === 'text-delta') answer += chunk.delta;
    return { turnId: turnId ?? '', answer };
  };
  const sent = await Promise.all(Array.from({ length: SENDS }, sendOnce));
  await bench.shown.refresh();
  return judgeResend({
    turnIds: sent.map(({ turnId }) => turnId),
    answers: sent.map(({ answer }) => answer),
    turns: countTurns(await storedMessages(bench)),
    calls: (await calls())?.length,
  });
}
