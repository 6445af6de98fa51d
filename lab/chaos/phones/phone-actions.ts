import { z } from 'zod';
import { burst, interrupt, queue } from './busy-actions.ts';
import {
  binAndUndelete,
  erase,
  fork,
  lookForErased,
  markDeleted,
  regenerate,
} from './conversation-actions.ts';
import { compareWithExport } from './export-action.ts';
import type { Phone, PhoneAction } from './phone.ts';
import { resume } from './resume-actions.ts';
import { pathOf } from '../checks/transcript-of-phone.ts';

async function send(phone: Phone): Promise<void> {
  await phone.sendUntilKnown(phone.compose());
}

/** A library that repeats a request by itself: the same id twice at the same time. */
async function sendTwiceAtOnce(phone: Phone): Promise<void> {
  const message = phone.compose();
  await Promise.all([phone.sendUntilKnown(message), phone.sendUntilKnown(message)]);
}

/** The radio is gone in the midst of the answer, and comes back. */
async function hangUpAndComeBack(phone: Phone): Promise<void> {
  const message = phone.compose();
  const hangUp = AbortSignal.timeout(phone.options.random.integer(1, 250));
  const result = await phone.trySend(message, { transport: 'sse', signal: hangUp });
  if (result.kind === 'again') await phone.sendUntilKnown(message);
}

/** The battery is empty: nobody asks for this answer again. */
async function sendAndNeverComeBack(phone: Phone): Promise<void> {
  const hangUp = AbortSignal.timeout(phone.options.random.integer(1, 150));
  await phone.trySend(phone.compose(), { signal: hangUp });
}

/** The tab was hidden and shown: what is answered is asked for again. */
async function askAgain(phone: Phone): Promise<void> {
  if (phone.lastAnswered) await phone.trySend(phone.lastAnswered);
}

async function compact(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const body = random.chance(0.5) ? { requestId: random.uuid() } : {};
  await client.ask('POST', pathOf(random.pick(phone.conversationIds), ':compact'), body);
}

async function read(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const rest = random.pick(['', '/messages?pageSize=20&order=desc', '/context', '/compactions']);
  await client.ask('GET', pathOf(random.pick(phone.conversationIds), rest));
}

async function setThreshold(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const settings = { thresholdTokens: random.integer(1_000, 1_500) };
  await client.ask('PATCH', pathOf(conversationId), { settings });
  await phone.sendUntilKnown(phone.compose({ conversationId }));
}

const turnSchema = z.looseObject({ messageId: z.string() });
const conversationSchema = z.looseObject({ lastSeq: z.number(), generation: z.number() });

async function look(phone: Phone, conversationId: string) {
  const reply = await phone.options.client.ask('GET', pathOf(conversationId));
  return reply?.status === 200 ? conversationSchema.parse(reply.body) : undefined;
}

/** The app was closed in the midst of the answer, and follows the turn when it is opened again. */
async function followTheTurn(phone: Phone): Promise<void> {
  const { client, random } = phone.options;
  const message = phone.compose();
  const { conversationId, messageId } = message;
  const hangUp = AbortSignal.timeout(random.integer(20, 300));
  const result = await phone.trySend(message, { transport: 'sse', signal: hangUp });
  if (result.kind !== 'again') return;
  const seq = (await look(phone, conversationId))?.lastSeq ?? 0;
  const turn = await client.ask('GET', pathOf(conversationId, `/turns/t_${seq}`));
  if (turn?.status === 200 && turnSchema.parse(turn.body).messageId === messageId)
    phone.note(message, await client.follow(conversationId, seq));
  await phone.sendUntilKnown(message);
}

async function cancel(phone: Phone): Promise<void> {
  const { client, random } = phone.options;
  const message = phone.compose();
  const known = phone.sendUntilKnown(message);
  await phone.wait(random.integer(10, 300));
  const seq = (await look(phone, message.conversationId))?.lastSeq;
  if (seq) await client.ask('POST', pathOf(message.conversationId, `/turns/t_${seq}:cancel`), {});
  await known;
}

async function edit(phone: Phone): Promise<void> {
  const edited = phone.lastAnswered;
  if (!edited) return;
  const { conversationId, messageId } = edited;
  await phone.sendUntilKnown(phone.compose({ conversationId, replaces: messageId }));
}

async function deleteMessage(phone: Phone): Promise<void> {
  const { client } = phone.options;
  const message = phone.lastAnswered;
  if (!message) return;
  phone.lastAnswered = undefined;
  const { conversationId, messageId } = message;
  markDeleted(phone, message, 'asked');
  const reply = await client.ask('DELETE', pathOf(conversationId, `/messages/${messageId}`));
  if (reply && reply.status < 300) markDeleted(phone, message, 'told');
}

async function restore(phone: Phone): Promise<void> {
  const { client, random } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const current = (await look(phone, conversationId))?.generation ?? 0;
  if (current === 0) return;
  const body = { generation: random.integer(1, current) };
  await client.ask('POST', pathOf(conversationId, ':restore'), body);
}

export const phoneActions: readonly PhoneAction[] = [
  { name: 'send', weight: 50, run: send },
  { name: 'send twice at once', weight: 8, run: sendTwiceAtOnce },
  { name: 'hang up and come back', weight: 10, run: hangUpAndComeBack },
  { name: 'send and never come back', weight: 2, run: sendAndNeverComeBack },
  { name: 'ask again', weight: 6, run: askAgain },
  { name: 'compact', weight: 4, run: compact },
  { name: 'read', weight: 8, run: read },
  { name: 'set threshold', weight: 4, run: setThreshold },
  { name: 'follow the turn', weight: 6, run: followTheTurn },
  { name: 'cancel', weight: 4, run: cancel },
  { name: 'edit', weight: 4, run: edit },
  { name: 'delete a message', weight: 2, run: deleteMessage },
  { name: 'restore', weight: 1, run: restore },
  { name: 'resume', weight: 14, run: resume },
  { name: 'queue', weight: 6, run: queue },
  { name: 'burst', weight: 3, run: burst },
  { name: 'interrupt', weight: 6, run: interrupt },
  { name: 'regenerate', weight: 4, run: regenerate },
  { name: 'fork', weight: 4, run: fork },
  { name: 'bin and undelete', weight: 4, run: binAndUndelete },
  { name: 'erase', weight: 3, run: erase },
  { name: 'look for an erased one', weight: 3, run: lookForErased },
  { name: 'export', weight: 4, run: compareWithExport },
];
