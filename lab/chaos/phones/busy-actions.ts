import type { OutgoingMessage } from './phone-client.ts';
import type { Phone } from './phone.ts';

/** How long the phone waits for the headers of a stream before it writes the next message, ms. */
const HEADERS_MS = 600;

/** Opens the stream of a message and hangs up as soon as it has a seq; that is a promise to keep. */
async function askForSeq(phone: Phone, message: OutgoingMessage): Promise<number | undefined> {
  const hangUp = new AbortController();
  const signal = AbortSignal.any([hangUp.signal, AbortSignal.timeout(HEADERS_MS)]);
  const stream = await phone.options.client.openSend(message, { signal });
  hangUp.abort();
  if (stream.kind !== 'open' || stream.seq === undefined) return undefined;
  phone.options.ledger.promised.set(message.messageId, stream.seq);
  return stream.seq;
}

/** Several messages one after the other, none of them waiting for the answer before. */
export async function queue(phone: Phone): Promise<void> {
  const { random, count } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const messages = Array.from({ length: random.integer(2, 4) }, () =>
    phone.compose({ conversationId, onBusy: 'queue' }),
  );
  if (random.chance(0.5)) {
    let highest = 0;
    for (const message of messages) {
      const seq = await askForSeq(phone, message);
      if (seq === undefined) continue;
      count('queue: seq told');
      if (seq <= highest)
        phone.report('mismatched', {
          conversationId,
          messageId: message.messageId,
          what: `it was sent after turn ${highest} was stored and became turn ${seq}`,
        });
      highest = seq;
    }
  }
  await Promise.all(messages.map((message) => phone.sendUntilKnown(message)));
}

/** More messages than a minute has room for, all at once. */
export async function burst(phone: Phone): Promise<void> {
  const { random } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const messages = Array.from({ length: random.integer(8, 16) }, () =>
    phone.compose({ conversationId, onBusy: 'queue' }),
  );
  await Promise.all(messages.map((message) => phone.sendUntilKnown(message)));
}

/** "No, wait": another message while the first is being answered. */
export async function interrupt(phone: Phone): Promise<void> {
  const { random } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const first = phone.compose({ conversationId });
  const known = [phone.sendUntilKnown(first)];
  if (random.chance(0.3)) {
    const waiting = phone.compose({ conversationId, onBusy: 'queue' });
    known.push(phone.sendUntilKnown(waiting));
  }
  await phone.wait(random.integer(10, 400));
  const next = phone.compose({ conversationId, onBusy: 'interrupt' });
  await Promise.all([...known, phone.sendUntilKnown(next)]);
}
