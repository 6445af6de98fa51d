import { retry } from '#functions/lib/retry.ts';
import {
  readConversation,
  readTurnDocuments,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { seqOfId, turnPath } from '#shared/conversation/documents/paths.ts';
import type { TurnDocument, Notice } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import { decideNotice, NOTICE_LEASE_MS, restPlace, restsAs } from '#shared/notification/notice.ts';
import { createNotification, type TurnToNotify } from '#shared/notification/notification.ts';
import type { TurnRested } from '#shared/notification/published-event.ts';
import { DEVICES_MAX, readDevices, type StoredDevice } from '#shared/user/device.ts';
import type { NotificationDependencies } from './notification-dependencies.ts';
import { notifyDevice, type Told } from './notify-device.ts';

/** An edit or feedback may change the turn while it is told of; what was sent is noted all the same. */
const NOTE_TRIES = 5;

type Notifying = NotificationDependencies & Required<Pick<NotificationDependencies, 'notifier'>>;

interface Telling {
  event: TurnRested;
  seq: number;
  turn: TurnDocument;
}

const laterError = (event: TurnRested, reason: string, waitMs: number) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: `${event.turnId} of ${event.conversationId} is to be told of in ${waitMs} ms`,
    publicMessage: 'Not done yet; deliver the event again.',
    retryable: true,
    retryAfterMs: Math.max(1, waitMs),
  });

async function readTurn(
  { store }: Notifying,
  { conversationId }: TurnRested,
  seq: number,
): Promise<TurnDocument | undefined> {
  const [turn] = await readTurnDocuments(store, conversationId, [seq]);
  return turn;
}

/** Writes the notice under the state of the turn that was read. Throws GuardLostError. */
async function writeNotice(
  { store }: Notifying,
  { event, seq, turn }: Telling,
  notice: Omit<Notice, 'attempt' | 'round'>,
): Promise<TurnDocument> {
  const [updateTime = ''] = await store.commit([
    {
      op: 'update',
      path: turnPath(event.conversationId, seq),
      fields: { notice: { ...restPlace(event), ...notice } },
      guard: { updateTime: turn.updateTime },
    },
  ]);
  return { ...turn, updateTime };
}

/** Notes what was sent; a turn that has gone meanwhile, or that goes on, has nothing to be noted. */
async function note(
  dependencies: Notifying,
  telling: Telling,
  notice: Omit<Notice, 'attempt' | 'round'>,
): Promise<void> {
  const { event, seq } = telling;
  const attempt = async (tries: number) => {
    const turn = tries === 1 ? telling.turn : await readTurn(dependencies, event, seq);
    if (turn && restsAs(event, turn.value))
      await writeNotice(dependencies, { event, seq, turn }, notice);
  };
  await retry(attempt, { mostTries: NOTE_TRIES });
}

async function turnToTell(
  { config, store, clock }: Notifying,
  { event, seq, turn }: Telling,
  conversation: Conversation,
): Promise<TurnToNotify> {
  const { conversationId } = event;
  const title = conversation.title ?? '';
  const { state: resting, leaseUntil } = turn.value;
  if (resting === 'awaiting_tool') {
    const waitsForMs = leaseUntil.getTime() - clock.now().getTime();
    return { conversationId, seq, state: resting, title, waitsForMs };
  }
  const state = resting === 'done' ? 'done' : 'failed';
  const isShown = config.NOTIFICATION_TEXT === 'preview' && state === 'done';
  const [stored] = isShown ? await readTurns(store, conversationId, [seq]) : [];
  return { conversationId, seq, state, title, answer: stored?.value };
}

/** Tells devices, all at once: there are few. */
async function tellAll(
  dependencies: Notifying,
  input: { turn: TurnToNotify; devices: readonly StoredDevice[] },
  signal: AbortSignal,
): Promise<{ id: string; told: Told }[]> {
  const { config, sha256 } = dependencies;
  const sent = input.devices.map(async (device) => {
    const notification = createNotification(input.turn, {
      text: config.NOTIFICATION_TEXT,
      fallbackTitle: config.NOTIFICATION_TITLE,
      locale: device.device.locale,
      sha256,
    });
    const told = await notifyDevice(dependencies, { device, notification }, signal);
    return { id: device.device.id, told };
  });
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

const countOf = (results: readonly { told: Told }[], kind: Told['kind']) =>
  results.filter(({ told }) => told.kind === kind).length;

/**
 * The turn as the event finds it and its conversation document, or undefined where nobody is to be told. Throws to be
 * asked later.
 */
async function readTelling(
  dependencies: Notifying,
  event: TurnRested,
): Promise<(Telling & { conversation: Conversation; told: readonly string[] }) | undefined> {
  const { store, clock } = dependencies;
  const seq = seqOfId(event.turnId, 't') ?? 0;
  const [conversation, turn] = await Promise.all([
    readConversation(store, event.conversationId),
    readTurn(dependencies, event, seq),
  ]);
  const found = { conversation: conversation?.value, turn: turn?.value, now: clock.now() };
  const decision = decideNotice(event, found);
  switch (decision.kind) {
    case 'none':
      return undefined;
    case 'wait':
      throw laterError(event, 'NOTICE_BUSY', decision.waitMs);
    case 'send':
      return (
        conversation &&
        turn && { event, seq, turn, conversation: conversation.value, told: decision.told }
      );
  }
}

/**
 * Tells the owner's devices that a turn has ended, or waits for the app, each once: who sends holds the `notice` of the turn, under a
 * lease. A worker that dies between the sending and the note sends again after it, under the same
 * collapse key. Devices whose token is dead are removed. Throws retryable AppErrors to be asked again (NOTICE_BUSY,
 * NOTIFICATIONS_LEFT), GuardLostError when the turn changes all the while, StoreUnavailableError.
 */
export async function notifyDevices(
  dependencies: Notifying,
  event: TurnRested,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, logger } = dependencies;
  const telling = await readTelling(dependencies, event);
  if (!telling) return;
  const { conversation, told } = telling;
  const all = await readDevices(store, conversation.ownerUid);
  const devices = all.slice(0, DEVICES_MAX).filter(({ device }) => !told.includes(device.id));
  if (devices.length === 0) return;
  const turn = await turnToTell(dependencies, telling, conversation);
  const until = new Date(clock.now().getTime() + NOTICE_LEASE_MS);
  const claim: Omit<Notice, 'attempt' | 'round'> = { state: 'sending', until, told: [...told] };
  const claimed = { ...telling, turn: await writeNotice(dependencies, telling, claim) };
  const results = await tellAll(dependencies, { turn, devices }, signal);
  const waitsMs = results.flatMap((result) =>
    result.told.kind === 'later' ? [result.told.retryAfterMs] : [],
  );
  logger.log('INFO', 'notification_sent', {
    conversationId: event.conversationId,
    turnId: event.turnId,
    state: event.state,
    sent: countOf(results, 'sent'),
    gone: countOf(results, 'gone'),
    refused: countOf(results, 'refused'),
    later: waitsMs.length,
  });
  const now = clock.now();
  if (waitsMs.length === 0)
    return note(dependencies, claimed, { state: 'sent', until: now, told: [] });
  const waitMs = Math.max(...waitsMs);
  const done = results.filter((result) => result.told.kind !== 'later').map(({ id }) => id);
  await note(dependencies, claimed, {
    state: 'sending',
    until: new Date(now.getTime() + waitMs),
    told: [...told, ...done],
  });
  throw laterError(event, 'NOTIFICATIONS_LEFT', waitMs);
}
